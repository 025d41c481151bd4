"""A table that is watched while commits arrive."""
