"""Packages: planned from a manifest, checked and put in place; and sealed ones, which open without this program, too.

A sealed package is a gzip of a tar, its seal is age's format v1 (https://age-encryption.org/v1) or that of
``openssl enc``.
"""
