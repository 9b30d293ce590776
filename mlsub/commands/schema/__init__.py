"""``mlsub schema``: the JSON Schemas of answers and of documents."""
