"""The package as a tree of files: what the submission rules expect where, and what should not lie there.

Everything here is audit; the official verdict comes from ``results/`` and ``systems/`` alone. The only module that
looks at a disk is :mod:`mlsub.submission.layout.walk`.
"""

from mlsub.submission.layout.audit import audit_layout
from mlsub.submission.layout.expected import ExpectedPath, PlannedEntry, expected_tree
from mlsub.submission.layout.model import Item, ItemKind, Listing, Place
from mlsub.submission.layout.templates import Template, is_unfilled, templates
from mlsub.submission.layout.walk import list_tree

__all__ = [
    "ExpectedPath",
    "Item",
    "ItemKind",
    "Listing",
    "Place",
    "PlannedEntry",
    "Template",
    "audit_layout",
    "expected_tree",
    "is_unfilled",
    "list_tree",
    "templates",
]
