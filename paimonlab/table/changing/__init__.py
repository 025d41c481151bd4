"""Deleting and updating rows of a table by a condition.

Answers which files and keys a statement touches, and commits what becomes of them; runs the
statement again when others were faster.
"""
