"""The snapshots of a table: what each commit did, and how two of them differ."""
