"""The format as types and pure functions.

Answers: what the bytes mean - types, schemas, BinaryRow, hashes and buckets, partition paths,
statistics, predicates, options, snapshots. Must not know: files, clocks, randomness, tables.
"""
