"""What keeps a table in order and changes no row: expiry, tags, consumers, stray and lost files.

Answers what goes after a commit, or when a user says so.
"""
