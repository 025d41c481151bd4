"""The user's object: one table with its verbs, scans and system tables.

Answers: what a user asks of a table. Knows all layers below and wires them together. Must not
know which catalog the table came from.
"""
