"""Options of a table: which there are, how their values are written, and what is obeyed."""
