"""How tables are kept."""
