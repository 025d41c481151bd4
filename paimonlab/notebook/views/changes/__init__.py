"""The rows that changed between two points."""
