"""The schema of a table: its definition, its rules, and how it changes."""
