"""The life of one row."""
