"""Audit rules: what a careful reviewer would ask and no official tool checks. They never change a verdict."""
