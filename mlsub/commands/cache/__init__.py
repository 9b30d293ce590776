"""``mlsub cache``."""
