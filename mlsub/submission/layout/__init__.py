"""The package as a tree of files: what the submission rules expect where, and what should not lie there.

Everything here is audit; the official verdict comes from ``results/`` and ``systems/`` alone. The only module that
looks at a disk is :mod:`mlsub.submission.layout.walk`.
"""
