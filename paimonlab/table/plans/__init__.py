"""Plans: what reading, writing or compacting files takes, as values that can be sent.

A function each makes them of a definition and a store.
"""
