"""Change a submission's files where asked to: repairs, redaction, truncation. No record of a run is lost or altered."""
