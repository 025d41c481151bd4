"""A statement that failed."""
