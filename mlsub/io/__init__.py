"""Files and folders: read with bounds and lines, put in place whole or not at all."""

#: The version of mlsub, which every answer names.
VERSION = "0.2.0"
