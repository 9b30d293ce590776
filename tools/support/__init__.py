"""What tests and tools share: made submissions, calls of commands, published packages."""
