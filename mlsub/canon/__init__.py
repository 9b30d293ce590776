"""What things are called, in one spelling each: organisations, accelerators, benchmarks, and the days of rounds."""
