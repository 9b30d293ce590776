"""Take private things out of the framework output of logs, and nothing out of records."""
