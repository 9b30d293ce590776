"""Change a submission's files where asked to: repairs, redaction, truncation; with proof that no event of a run suffers."""
