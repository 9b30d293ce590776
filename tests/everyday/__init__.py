"""What a submitter stumbles over in everyday use."""
