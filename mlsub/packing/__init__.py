"""Submissions on their way: planned from a manifest, and sealed in one archive that opens without this program, too.

The archive is a gzip of a tar, the seal is age's format v1 (https://age-encryption.org/v1) or that of ``openssl enc``.
"""
