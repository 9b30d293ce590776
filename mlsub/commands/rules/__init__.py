"""``mlsub rules``: look rules up, compare rounds, check hyperparameters."""
