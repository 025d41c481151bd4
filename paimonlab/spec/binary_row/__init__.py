"""BinaryRow: rows as bytes, to Arrow columns and back, and their hash."""
