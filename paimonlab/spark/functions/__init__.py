"""Functions that the session gets with the catalog."""
