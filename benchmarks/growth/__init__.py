"""What must not grow: the cost of a work at two or more sizes, beside that of a plain file or a peer.

``python -m benchmarks.growth [--only SUBJECT …] [--write]``. A subject is a module of this package
with a function ``rows`` that yields `benchmarks.growth.row.GrowthRow`; `SUBJECTS` names them all.
"""

from __future__ import annotations

SUBJECTS = (
    "small_files",
    "first_second",
    "commits",
    "planning",
    "many_groups",
    "wide",
    "lookup_changelogs",
    "dynamic_buckets",
    "moving_keys",
    "memory",
    "following",
    "histories",
    "limits",
    "schemas",
    "few_keys",
    "spark_writes",
    "spark_planning",
    "spark_grouping",
    "spark_sizes",
)
"""Modules of this package, in the order of the table.

Small files come first: for minutes after many files were deleted ext4 takes longer to make one.
"""
