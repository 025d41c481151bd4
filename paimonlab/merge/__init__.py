"""Which rows survive: pure functions over columns.

Answers what a merge engine makes of the rows of one key, in what order keys sort and which
files overlap. Knows Arrow arrays and what metadata says of files; opens nothing, and never
sees an option as text.
"""
