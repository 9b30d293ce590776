"""Plan packages from a manifest, check them and put them in place; seal them, and open sealed ones.

A sealed package is a gzip of a tar, its seal is age's format v1 (https://age-encryption.org/v1) or that of
``openssl enc``.
"""
