"""The levels of buckets: their files by key, and the commits that led to them."""
