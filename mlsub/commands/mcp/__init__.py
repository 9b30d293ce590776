"""Serve what mlsub answers to assistants over the Model Context Protocol."""
