"""Rows of append tables in the order of columns: as words, along curves, in bounded memory.

Knows of no level and no bucket.
"""
