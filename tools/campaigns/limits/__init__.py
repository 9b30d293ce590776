"""What mlsub can take, measured and tested: sizes, depths, numbers, and the growth of its regular expressions."""
