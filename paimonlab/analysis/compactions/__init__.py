"""Compactions: what they did and cost, and what would be compacted now."""
