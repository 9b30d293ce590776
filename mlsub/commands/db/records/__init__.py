"""Benchmark records beyond MLPerf: throughput, latency and time to result, as documents state them."""

from mlsub.commands.db.records.model import Configuration, Document, Fact, MlperfIds, Record, Records, Source, System
from mlsub.commands.db.records.read import read_records, records_schema

__all__ = [
    "Configuration",
    "Document",
    "Fact",
    "MlperfIds",
    "Record",
    "Records",
    "Source",
    "System",
    "read_records",
    "records_schema",
]
