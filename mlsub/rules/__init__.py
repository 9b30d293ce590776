"""Rules as data, one file a benchmark, and the small engine that holds logs against them."""
