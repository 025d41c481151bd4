"""Which files and splits answer a query.

Knows manifests and statistics; must not know what is inside data files, nor how rows merge.
"""
