"""Load and store schemas, snapshots, manifests and tags by id or name.

Knows the folders of a table and the files in them; must not know plans, rows or merging.
"""
