"""What is in columns of any length, in one pass and bounded memory.

A `ColumnSketch` is a value: that of some rows plus that of others is that of both. So batches,
files and Spark's partitions are summed up alike, and both engines get the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.results.profiling.frequent import LONGEST_BYTES
    from paimonlab.notebook.results.profiling.on_spark import SketchedFrame, sketch_frame
    from paimonlab.notebook.results.profiling.sketch import (
        ColumnSketch,
        RowSketch,
        bins_of,
        has_facts,
        sketch_batches,
    )

__all__ = [
    "LONGEST_BYTES",
    "ColumnSketch",
    "RowSketch",
    "SketchedFrame",
    "bins_of",
    "has_facts",
    "sketch_batches",
    "sketch_frame",
]

__getattr__, __dir__ = attributes_on_use(
    __name__,
    ColumnSketch="sketch",
    LONGEST_BYTES="frequent",
    RowSketch="sketch",
    SketchedFrame="on_spark",
    bins_of="sketch",
    has_facts="sketch",
    sketch_batches="sketch",
    sketch_frame="on_spark",
)
