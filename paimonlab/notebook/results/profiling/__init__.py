"""What is in columns of any length, in one pass and bounded memory.

A `ColumnSketch` is a value: that of some rows plus that of others is that of both. So batches,
files and Spark's partitions are summed up alike, and both engines say the same.
"""

from __future__ import annotations

from paimonlab.notebook.results.profiling.sketch import (
    ColumnSketch,
    RowSketch,
    bins_of,
    has_facts,
    sketch_batches,
)

__all__ = ["ColumnSketch", "RowSketch", "bins_of", "has_facts", "sketch_batches"]
