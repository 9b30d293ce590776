"""What differs between two packages: files, systems, entries, hyperparameters, findings."""
