"""From the bytes of a training log to events, and from events to one run."""
