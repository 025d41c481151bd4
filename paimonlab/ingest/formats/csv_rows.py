"""CSV: each message is one row of one table, named after the topic; columns are declared.

A field that is empty and not quoted is null; a quoted one is an empty text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import Event
from paimonlab.ingest.formats.gathering import RowsOf, events_of_columns, unreadable_messages
from paimonlab.ingest.formats.json_cells import Column
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.settings import FormatSettings

_MARK = b"\xef\xbb\xbf"
"""Mark of the order of bytes."""


class CsvRows:
    """Reads messages of one topic after the other."""

    def __init__(self, settings: FormatSettings) -> None:
        if not settings.columns:
            raise UnsupportedError(
                "format = 'csv' without columns", "give columns={'id': 'BIGINT', …} in their order"
            )
        self._settings = settings
        self._names = list(settings.columns)
        mark, end = re.escape(_MARK.decode("latin-1")), re.escape(settings.delimiter)
        value = rf'("([^"]|"")*("|$)|[^"{end}][^{end}]*|)'
        self._row = rf"(?s)^({mark})?{value}({end}{value})*$"

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows of messages."""
        places = [place for place, value in enumerate(messages.values) if value is not None]
        lines = [_line(messages.values[place]) for place in places]
        table = self._together(lines)
        errors: dict[int, str] = {}
        if table is None:
            table, places, errors = self._apart(lines, places)
        of = RowsOf(
            table=messages.table,
            columns=self._settings.read_columns,
            keys=self._settings.keys_of(messages.keys[places[0]]) if places else (),
            is_partial=False,
        )
        if not places:
            if errors:
                yield unreadable_messages(messages, sorted(errors.items()), of.table)
            return
        columns = {
            name: Column(table.column(name).combine_chunks(), np.ones(len(places), np.bool_), None)
            for name in self._names
        }
        yield from events_of_columns(of, columns, places, messages, errors)

    def _together(self, lines: Sequence[bytes]) -> pa.Table | None:
        """Read all rows at once; None: some are not one row."""
        if any(b"\n" in line or b"\r" in line or self._is_blank(line) for line in lines):
            return None
        text = b"\n".join(lines) + b"\n"
        if b'"' in text and not _all(lines, self._row):
            return None
        try:
            table = self._parsed(text, has_lines=False)
        except pa.ArrowInvalid:
            return None
        # One that leaves a quote open takes the next line, or has the end of the last one.
        is_whole = table.num_rows == len(lines) and not (lines and _is_open(lines[-1], table))
        return table if is_whole else None

    def _is_blank(self, line: bytes) -> bool:
        """Whether a line has no column; Arrow takes it for a row of nulls."""
        return not line and len(self._names) > 1

    def _apart(
        self, lines: Sequence[bytes], places: Sequence[int]
    ) -> tuple[pa.Table, list[int], dict[int, str]]:
        """Read each row by itself."""
        tables, kept, errors = [], [], {}
        for place, line in zip(places, lines, strict=True):
            if self._is_blank(line):
                errors[place] = f"not a row of CSV: it is empty, not {len(self._names)} columns"
                continue
            if not _all([line], self._row):
                errors[place] = "not a row of CSV: a quoted value goes on after its quote"
                continue
            try:
                table = self._parsed(line + b"\n", has_lines=True)
            except pa.ArrowInvalid as error:
                errors[place] = f"not a row of CSV: {error}"
                continue
            if _is_open(line, table):
                errors[place] = "not a row of CSV: a quote is not closed"
            elif table.num_rows == 1:
                tables.append(table)
                kept.append(place)
            else:
                errors[place] = f"{table.num_rows} rows of CSV in one message, not 1"
        if not tables:
            return self._parsed(b"", has_lines=False), kept, errors
        return pa.concat_tables(tables), kept, errors

    def _parsed(self, text: bytes, *, has_lines: bool) -> pa.Table:
        if not text:
            return pa.table({name: pa.nulls(0, pa.string()) for name in self._names})
        if text.startswith(_MARK):
            text = _MARK + text  # Arrow leaves the first one out, whichever message is first
        return csv.read_csv(
            io.BytesIO(text),
            csv.ReadOptions(
                column_names=self._names, use_threads=False, block_size=max(len(text) + 1, 1 << 20)
            ),
            csv.ParseOptions(
                delimiter=self._settings.delimiter,
                newlines_in_values=has_lines,
                ignore_empty_lines=False,
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(self._names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )


def _all(lines: Sequence[bytes], pattern: str) -> bool:
    """Whether all lines match an expression over bytes."""
    found = pc.match_substring_regex(arrow_array(lines, pa.binary()), pattern)
    return bool(pc.all(found).as_py())


def _is_open(line: bytes, table: pa.Table) -> bool:
    """Whether a line leaves a quote open: its last value has the end that was put after it."""
    if not table.num_rows:
        return False
    last = table.column(table.num_columns - 1)[-1].as_py()
    return last is not None and last.endswith("\n") and not line.endswith(b'\n"')


def _line(value: bytes | None) -> bytes:
    """Return a message without the end of its line."""
    assert value is not None
    return value.removesuffix(b"\n").removesuffix(b"\r")
