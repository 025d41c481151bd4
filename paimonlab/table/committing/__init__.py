"""What all who commit to a table need: committers, users, and what becomes of failures.

Knows nothing of what is committed.
"""
