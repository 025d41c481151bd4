"""Data types of columns: as values, as text and JSON, in Arrow, and what they may change to."""
