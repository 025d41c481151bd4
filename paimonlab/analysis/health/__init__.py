"""How well tables are maintained: measures, rules over them, and what these find."""
