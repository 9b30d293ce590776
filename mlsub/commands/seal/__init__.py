"""Sealing a submission: one reproducible archive, encrypted, with a manifest and a receipt; and the way back.

The archive is a gzip of a tar, the seal is age's format v1 (https://age-encryption.org/v1), so that both can be opened
without this program: :func:`mlsub.commands.seal.run.seal_tree`, :func:`mlsub.commands.unseal.run.unseal`,
:mod:`mlsub.commands.verify.run`.
"""
