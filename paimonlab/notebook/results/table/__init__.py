"""The rows of a result as a table: value, drawing, and what the interactive form asks."""
