"""Change a submission's files where asked to: repairs, redaction, truncation. Proof first that no event suffers."""
