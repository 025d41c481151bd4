"""Reading a table: which snapshot and columns a user means, and the rows or changes of them.

Answers what is read, from when and how; knows of no commit.
"""
