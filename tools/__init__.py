"""Programs about the house that are no part of it: benchmarks, campaigns, the mutation gate, supply chain."""
