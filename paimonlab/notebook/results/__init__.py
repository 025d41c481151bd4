"""What a statement returns: rows, their table, plots, profiles, files."""
