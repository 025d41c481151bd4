"""The data files of a table by size and place."""
