"""What a table's metadata says about how it is kept: measured values in, findings out.

Nothing here reads; `paimonlab.table.health` measures.
"""
