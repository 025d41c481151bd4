"""Buckets: what they contain, and when their files were added and removed."""
