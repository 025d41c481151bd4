"""The tables of a catalog."""
