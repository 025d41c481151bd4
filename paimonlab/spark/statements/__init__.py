"""Statements of Paimon that Spark's grammar does not have, or refuses for tables of catalogs."""
