"""How well tables are maintained."""
