"""How rows without buckets are divided between the tasks of an engine that has several."""

from __future__ import annotations

from paimonlab.spec.options.table_options import OptionSlice, option_field


class SinkOptions(OptionSlice):
    """The table option that rows without buckets are divided by."""

    by_partition: bool = option_field(
        "partition.sink-strategy", "enum", default=False, parse="hash".__eq__
    )
    """``partition.sink-strategy``: whether all rows of a partition are written by one task; what
    Flink does by statistics (``partition_dynamic``) is none of Spark's, in Java neither."""
