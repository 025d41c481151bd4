"""What a process remembers of a table between its reads and writes; `TableStore` keeps it.

Knows of no table, only of what it is given.
"""
