"""Follow growing logs: where each run stands, what is wrong with it as soon as that is certain, and the verdict."""
