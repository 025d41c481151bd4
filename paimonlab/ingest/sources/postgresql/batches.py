"""Columns of values become events: rows, and those of them that cannot be stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, arrow_scalar
from paimonlab.ingest.changes import KIND_TYPE, Event, RowChanges, Unreadable
from paimonlab.ingest.sources.postgresql.catalog import Layout
from paimonlab.ingest.sources.postgresql.values import Problems
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import parse_type

METADATA_TYPES: Mapping[str, DataType] = {
    "database_name": parse_type("STRING"),
    "schema_name": parse_type("STRING"),
    "op_ts": parse_type("TIMESTAMP_LTZ(3)"),
}
"""What is known of each row. ``op_ts`` is when its transaction was committed; null in rows that
were copied."""

_INSTANT = to_arrow(METADATA_TYPES["op_ts"])
_RETRACTS = [int(RowKind.DELETE), int(RowKind.UPDATE_BEFORE)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decoded:
    """Values of rows of a table, with what is known of them."""

    table: str
    """``schema.table``."""
    database: str
    layout: Layout
    columns: Sequence[pa.Array]
    problems: Sequence[tuple[str, Problems]]
    """Of columns: name, and what is wrong by place."""
    kinds: npt.NDArray[np.int8] | None = None
    """None: all are inserts."""
    follows: npt.NDArray[np.bool_] | None = None
    """Which rows are the new values of the row before; None: no row is."""
    lsns: npt.NDArray[np.int64] | None = None
    """Where the transaction of each row was committed."""
    lsn: int = 0
    """Where all rows are from, if there is nothing for each."""
    millis: npt.NDArray[np.int64] | None = None
    unchanged: Mapping[str, npt.NDArray[np.bool_]] | None = None

    def events(self) -> Iterator[Event]:
        """Yield the rows; those with problems by themselves, in their order."""
        names = list(self.layout.schema.names)
        rows = pa.RecordBatch.from_arrays(list(self.columns), names=names)
        whole = RowChanges(
            table=self.table,
            rows=rows,
            kinds=None if self.kinds is None else arrow_array(self.kinds, KIND_TYPE),
            schema=self.layout.schema,
            positions=self._positions(),
            metadata=self._metadata(),
            unchanged={name: arrow_array(mask) for name, mask in (self.unchanged or {}).items()},
        )
        problems = _by_row(self._told_apart())
        if not problems:
            yield whole
            return
        yield from self._without(whole, problems)

    def _told_apart(self) -> Iterator[tuple[str, Problems]]:
        """Return problems but those of old values that are no key: nothing depends on them."""
        keys = self.layout.schema.primary_keys
        for name, wrong in self.problems:
            kinds = self.kinds
            if not wrong or kinds is None or not keys or name in keys:
                yield name, wrong
            else:
                yield (
                    name,
                    {place: told for place, told in wrong.items() if kinds[place] not in _RETRACTS},
                )

    def _positions(self) -> pa.Array:
        count = len(self.columns[0]) if self.columns else 0
        if self.lsns is None:
            return pa.repeat(lsn_texts(np.array([self.lsn], np.int64))[0], count)
        return lsn_texts(self.lsns)

    def _metadata(self) -> dict[str, pa.Array]:
        count = len(self.columns[0]) if self.columns else 0
        schema = self.table.partition(".")[0]
        found = {
            "database_name": pa.repeat(arrow_scalar(self.database), count),
            "schema_name": pa.repeat(arrow_scalar(schema), count),
        }
        if self.millis is not None:
            found["op_ts"] = arrow_array(self.millis).view(_INSTANT)
        return found

    def _without(self, whole: RowChanges, problems: Problems) -> Iterator[Event]:
        """Leave out rows with problems, and old rows of updates whose new ones have some."""
        count = whole.rows.num_rows
        dropped = np.zeros(count, np.bool_)
        dropped[list(problems)] = True
        if self.follows is not None:
            dropped[:-1] |= dropped[1:] & self.follows[1:]
        bad = [
            place for place in sorted(problems) if self.kinds is None or not self._is_retract(place)
        ]
        start = 0
        for place in bad:
            yield from _kept(whole, dropped, start, place)
            yield self._unreadable(whole, place, problems[place])
            start = place + 1
        yield from _kept(whole, dropped, start, count)

    def _is_retract(self, place: int) -> bool:
        assert self.kinds is not None
        return int(self.kinds[place]) in _RETRACTS and not self._is_alone(place)

    def _is_alone(self, place: int) -> bool:
        """Whether a row is not the old one of an update."""
        after = place + 1
        return self.follows is None or after >= len(self.follows) or not self.follows[after]

    def _unreadable(self, whole: RowChanges, place: int, problem: str) -> Unreadable:
        row: dict[str, Any] = whole.rows.slice(place, 1).to_pylist()[0]
        shown = json.dumps(row, default=str, ensure_ascii=False)
        assert whole.positions is not None
        return Unreadable(
            table=self.table,
            errors=arrow_array([problem], pa.string()),
            raw=pa.nulls(1, pa.binary()),
            rows=arrow_array([shown], pa.string()),
            kinds=None if whole.kinds is None else whole.kinds.slice(place, 1),
            positions=whole.positions.slice(place, 1),
        )


def _by_row(problems: Iterable[tuple[str, Problems]]) -> Problems:
    """Join what is wrong with the columns of rows, by place."""
    found: Problems = {}
    for name, wrong in problems:
        for place, problem in wrong.items():
            told = f"column {name!r}: {problem}"
            found[place] = f"{found[place]}; {told}" if place in found else told
    return found


def _kept(
    whole: RowChanges, dropped: npt.NDArray[np.bool_], start: int, end: int
) -> Iterator[RowChanges]:
    places = np.flatnonzero(~dropped[start:end]) + start
    if len(places):
        yield taken(whole, places)


def taken(changes: RowChanges, places: npt.NDArray[np.int64]) -> RowChanges:
    """Return some rows."""
    indices = arrow_array(places)

    def of(column: pa.Array | None) -> pa.Array | None:
        return None if column is None else column.take(indices)

    return RowChanges(
        table=changes.table,
        rows=changes.rows.take(indices),
        kinds=of(changes.kinds),
        schema=changes.schema,
        positions=of(changes.positions),
        metadata={name: column.take(indices) for name, column in changes.metadata.items()},
        unchanged={name: mask.take(indices) for name, mask in changes.unchanged.items()},
    )


def lsn_texts(lsns: npt.NDArray[np.int64]) -> pa.Array:
    """Write places of the log, all with the same number of digits.

    Examples
    --------
    >>> lsn_texts(np.array([(22 << 32) + 0xB37480])).to_pylist()
    ['00000016/00B37480']
    """
    count = len(lsns)
    shifts = np.arange(60, -4, -4)
    digits = _DIGITS[(lsns[:, None] >> shifts) & 15]
    signs = np.empty((count, 17), np.uint8)
    signs[:, :8], signs[:, 8], signs[:, 9:] = digits[:, :8], ord("/"), digits[:, 8:]
    offsets = np.arange(0, 17 * count + 1, 17, dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(signs)]
    )


_DIGITS = np.frombuffer(b"0123456789ABCDEF", np.uint8)
