"""What may be deleted, and deleting it.

Answers: which files nothing needs once a snapshot or a tag is gone. Knows snapshots, tags,
branches and the files they name; decides as pure functions over names. Must not know catalogs
or rows.
"""
