"""Splits to Arrow batches: opening files, merging their rows, streaming the result.

Answers what the rows of a split are. Knows data files and merging; must not know commits,
catalogs or how splits were planned.
"""
