"""Rows -> buckets -> files -> commit messages.

Answers: what a writer of rows does, on the driver or on an executor. Must not know commits and
later snapshots.
"""
