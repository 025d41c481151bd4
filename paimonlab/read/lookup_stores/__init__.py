"""Copies of data files that are made for finding rows by their keys, on the local disk.

A data file of a primary-key table is written to be read as a whole. Whoever looks for a few keys in
it commit after commit keeps its rows uncompressed and mapped into memory, so that only what is
found is read. A copy is a cache: it is checked, and made again when anything is wrong with it.
"""
