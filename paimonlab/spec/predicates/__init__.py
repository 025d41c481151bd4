"""Conditions on rows: built, read from SQL, bound to columns, evaluated, and used to skip files."""
