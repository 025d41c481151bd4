"""Rows: which changed, and which columns have one value everywhere."""
