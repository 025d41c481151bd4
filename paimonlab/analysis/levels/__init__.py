"""The levels of buckets: their files by key, and how they came to be."""
