"""Sealed submissions: one archive, written, opened and compared, that opens without this program, too.

The archive is a gzip of a tar, the seal is age's format v1 (https://age-encryption.org/v1) or that of ``openssl enc``.
"""
