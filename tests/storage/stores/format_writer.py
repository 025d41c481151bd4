"""A process that writes into a format table: ``OPTIONS NUMBER WORK TURNS``; a line lets it begin.

``append``: as many writes of ten rows each, whose ids no other process writes, in both partitions.
``overwrite``: as often replaces what is in partition ``a``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

import pyarrow as pa

from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.storage import LocalFileIO, stores
from paimonlab.table.format_tables.format_table import FormatTable

COLUMNS = {"id": "BIGINT", "v": "STRING", "p": "STRING"}
ROWS = 10


def opened(options: Mapping[str, str]) -> FormatTable:
    """Open the table of a warehouse."""
    said = {"type": "format-table", "file.format": "csv"}
    schema = new_table_schema(Schema(COLUMNS, ("p",), (), said, None), time_millis=0)
    root = options["warehouse"]
    is_store = "://" in root
    file_io = stores.open_warehouse(root, options) if is_store else LocalFileIO()
    return FormatTable(Identifier("db", "lines"), schema, f"{root}/lines", file_io)


def rows(first: int, value: str, partitions: str = "ab") -> pa.Table:
    """Make rows of consecutive ids."""
    ids = range(first, first + ROWS)
    places = [partitions[number % len(partitions)] for number in ids]
    return pa.table({"id": ids, "v": [value] * ROWS, "p": places})


def main(options: str, number: str, work: str, turns: str) -> None:
    """Write."""
    table = opened(json.loads(options))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for turn in range(int(turns)):
        first = int(number) * 1_000_000 + turn * ROWS
        if work == "append":
            table.write(rows(first, work))
        else:
            table.overwrite(rows(first, work, "a"), partition={"p": "a"})


if __name__ == "__main__":
    main(*sys.argv[1:])
