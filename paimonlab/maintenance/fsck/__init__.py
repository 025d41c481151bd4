"""Is a table what its metadata says it is? Looks at every file, changes none.

Answers: which files are missing, damaged, or at odds with others. Knows: the format. Must not
know: tables as objects, catalogs.
"""
