"""Benchmarks: how fast mlsub is beside a floor and the official tools."""
