"""The levels of buckets, step by step."""
