"""Buckets: what they hold, and how their files came and went."""
