"""Files and folders: read with bounds and lines, put in place whole or not at all."""
