"""Rows to and from one data file.

Answers what a column of a file means under a table's schema (evolution, casts), reads the
rows of a file and writes them. Knows schemas and formats; must not know snapshots, levels or
which rows win.
"""
