"""What objects show of themselves at the end of a cell."""
