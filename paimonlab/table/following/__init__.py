"""Following a table: its rows, then what every commit changes, for as long as one likes.

Answers where a follower starts, what it reads next, and how far it came. What comes next is decided
in `paimonlab.scan.following`; the modules here look, read, wait and record.
"""
