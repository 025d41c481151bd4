"""Compacting a table: on demand (`verb`), after rows were committed (`after_write`), by writers.

Answers which files of which buckets are merged, and commits what comes of them.
"""
