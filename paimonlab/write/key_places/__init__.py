"""Where each key of a table is, if keys may move from one partition to another.

Keys are kept sorted, in layers: what was learned later is found first. Layers that are large are
files on the local disk, so that what a writer holds in memory does not grow with the table.
"""
