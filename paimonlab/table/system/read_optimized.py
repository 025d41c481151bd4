"""``$ro``: the rows of a primary-key table that a full compaction has seen.

They need no merging; what was written since is not there. An append table shows all its rows.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.ReadOptimizedTable``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab.table.reading.scan import Scan
from paimonlab.table.system.asking import AboutTable, ScanArguments
from paimonlab.table.system.row_tracking import scan_of

if TYPE_CHECKING:
    from paimonlab.table.table import Table


def columns(table: Table) -> pa.Schema:
    """Return the table's columns."""
    return table.arrow_schema


def scan(table: AboutTable, asked: ScanArguments) -> Scan:
    """Read the files of the top level."""
    found = scan_of(table.table, asked)
    if not table.table.primary_keys:
        return found
    fallback = found.fallback
    if fallback is not None:
        fallback = replace(fallback, level=top_level(fallback.definition.options))
    return replace(found, level=top_level(found.definition.options), fallback=fallback)


def top_level(options: Mapping[str, str]) -> int:
    """Return the highest level of the files of a table.

    >>> top_level({}), top_level({"num-levels": "3"})
    (5, 2)
    """
    if "num-levels" in options:
        return int(options["num-levels"]) - 1
    return int(options.get("num-sorted-run.compaction-trigger", "5"))
