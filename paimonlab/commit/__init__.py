"""Messages of writers -> one snapshot, or why not.

Knows manifests and snapshots; must not know rows, writing or compaction.
"""
