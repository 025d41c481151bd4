"""What to rewrite, and how.

Answers which files of a bucket are worth merging, and what becomes of them. Picking is pure: it
knows what metadata says of files, options as slices, and a clock only as a parameter. Must not
know commits, writers and tables.
"""
