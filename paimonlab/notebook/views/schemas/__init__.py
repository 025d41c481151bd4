"""How the schema came to be."""
