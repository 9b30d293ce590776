"""What mlsub is made of beside its own code: locked, listed with licences, and audited."""
