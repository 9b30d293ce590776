"""The version of mlsub, which every answer names."""

VERSION = "0.2.0"
