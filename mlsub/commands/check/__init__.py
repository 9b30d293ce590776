"""The report, and its renderers, which know nothing of rules."""
