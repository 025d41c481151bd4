"""A process that writes into a format table: ``OPTIONS NUMBER WORK TURNS``; a line lets it begin.

``append``: as many writes of ten rows each, whose ids no other process writes, in both partitions.
``overwrite``: as often replaces what is in partition ``a``.
``replace``: replaces the whole table as often as a line asks for it, with rows in two partitions.
The line says at which of its calls it stops itself, if at one; each answer is a line too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Self

import pyarrow as pa

from paimonlab.errors import CorruptMetadataError, OverwriteConflictError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.storage import FileIO, FileStatus, LocalFileIO, stores
from paimonlab.storage.forwarding import ForwardingFileIO
from paimonlab.table.format_tables import replacing
from paimonlab.table.format_tables.format_table import FormatTable

COLUMNS = {"id": "BIGINT", "v": "STRING", "p": "STRING"}
ROWS = 10


class Stopping(ForwardingFileIO):
    """A store whose user stops itself before one of its calls."""

    def __init__(self, store: FileIO) -> None:
        self._behind = store
        self.left: int | None = None
        """How many calls there are until then."""

    def _store(self) -> FileIO:
        return self._behind

    def within(self, *_: str) -> Self:
        return self

    def _call(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                say("stopped")
                os.kill(os.getpid(), signal.SIGSTOP)

    def publish(self, path: str, data: bytes) -> bool:
        self._call()
        return super().publish(path, data)

    def list(self, path: str) -> list[FileStatus]:
        self._call()
        return super().list(path)

    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        self._call()
        super().rename(source, target, durable=durable)

    def delete(self, path: str) -> None:
        self._call()
        super().delete(path)

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        self._call()
        return super().delete_files(paths)


def say(word: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def opened(options: Mapping[str, str], stopping: bool = False) -> FormatTable:
    """Open the table of a warehouse."""
    said = {"type": "format-table", "file.format": "csv"}
    schema = new_table_schema(Schema(COLUMNS, ("p",), (), said, None), time_millis=0)
    root = options["warehouse"]
    is_store = "://" in root
    file_io: FileIO = stores.open_warehouse(root, options) if is_store else LocalFileIO()
    if stopping:
        file_io = Stopping(file_io)
    return FormatTable(Identifier("db", "lines"), schema, f"{root}/lines", file_io)


def rows(first: int, value: str, partitions: str = "ab") -> pa.Table:
    """Make rows of consecutive ids."""
    ids = range(first, first + ROWS)
    places = [partitions[number % len(partitions)] for number in ids]
    return pa.table({"id": ids, "v": [value] * ROWS, "p": places})


def replace(table: FormatTable, number: int) -> None:
    """Replace the whole table when a line asks for it."""
    store = table.file_io
    assert isinstance(store, Stopping)
    for line in sys.stdin:
        asked = json.loads(line)
        store.left = asked["stop"]
        replacing.PATIENCE_SECONDS = asked["patience"]
        own = rows(number * 1_000_000, asked["value"], asked["partitions"])
        try:
            table.overwrite(own, dynamic=False)
        except OverwriteConflictError:
            say("refused")
        else:
            say("done")
        store.left = None


def main(options: str, number: str, work: str, turns: str) -> None:
    """Write."""
    table = opened(json.loads(options), stopping=work == "replace")
    say("ready")
    if work == "replace":
        replace(table, int(number))
        return
    sys.stdin.readline()
    for turn in range(int(turns)):
        first = int(number) * 1_000_000 + turn * ROWS
        if work == "append":
            table.write(rows(first, work))
        else:
            table.overwrite(rows(first, work, "a"), partition={"p": "a"})


if __name__ == "__main__":
    main(*sys.argv[1:])
