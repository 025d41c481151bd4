"""The snapshots of a table."""
