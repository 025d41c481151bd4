"""How tables are kept: measures, the rules over them, and what they find."""
