"""A claims file proposed from a document: sentences with figures, the results they may be about, expressions."""
