"""Where each value is in the rows of many events: whole columns at a time, for rows of any shape.

A row begins where the one before it ends, which only its values tell. So the first rows of all
events are looked at in one step, then the second ones: as many steps as the longest event has rows,
each of them over as many rows as there are events.

Source: MySQL Source Code Documentation, ``binary_log::Rows_event`` (row image format).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from paimonlab.ingest.sources.mysql.events import DamagedEventError, LogColumn, LogType
from paimonlab.ingest.sources.mysql.spans import Flags, Memory, Places

_FIXED = {
    LogType.TINY: 1,
    LogType.SHORT: 2,
    LogType.INT24: 3,
    LogType.LONG: 4,
    LogType.LONGLONG: 8,
    LogType.FLOAT: 4,
    LogType.DOUBLE: 8,
    LogType.DATE: 3,
    LogType.NEWDATE: 3,
    LogType.YEAR: 1,
    LogType.OLD_TIMESTAMP: 4,
    LogType.OLD_TIME: 3,
    LogType.OLD_DATETIME: 8,
}
_WITH_FRACTION = {LogType.TIMESTAMP: 4, LogType.DATETIME: 5, LogType.TIME: 3}
_SIZED = (LogType.BLOB, LogType.GEOMETRY, LogType.JSON, LogType.COMPRESSED_BLOB, LogType.VECTOR)
_LEFT_OVER = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Bytes of the digits of a DECIMAL that are no nine."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How many bytes a value takes."""

    size: int
    """If each takes as many; else 0."""
    prefix: int
    """Else of how many bytes the number before it is that says its size."""


def layout_of(column: LogColumn) -> Layout:  # noqa: PLR0911 - one return a case
    """Return how many bytes the values of a column take."""
    kind, meta = column.type, column.meta
    if kind in _FIXED:
        return Layout(_FIXED[kind], 0)
    if kind in _WITH_FRACTION:
        return Layout(_WITH_FRACTION[kind] + (meta + 1) // 2, 0)
    if kind in (LogType.ENUM, LogType.SET):
        return Layout(meta, 0)
    if kind is LogType.BIT:
        return Layout((meta + 7) // 8, 0)
    if kind is LogType.DECIMAL:
        return Layout(sum(size for size, _ in decimal_groups(meta >> 8, meta & 255)), 0)
    if kind in _SIZED:
        return Layout(0, meta)
    return Layout(0, 1 if meta < 256 else 2)


def decimal_groups(precision: int, scale: int) -> list[tuple[int, int]]:
    """Return the groups of digits of a DECIMAL: bytes and digits of each."""
    whole = precision - scale
    groups = [(_LEFT_OVER[whole % 9], whole % 9)] if whole % 9 else []
    groups += [(4, 9)] * (whole // 9 + scale // 9)
    if scale % 9:
        groups.append((_LEFT_OVER[scale % 9], scale % 9))
    return groups


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSpans:
    """Where the values of a column are."""

    begins: Places
    ends: Places
    is_null: Flags | None
    """None: no nulls."""


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Images of rows, and where each begins."""

    memory: Memory
    starts: Places
    """Shape (n,), rising."""
    events: Places
    """Shape (n,): the number of the event of each."""
    numbers: Places
    """Shape (n,): the number of each within its event."""


def images_of(parts: Sequence[bytes], layouts: Sequence[Layout]) -> Images:
    """Find the images in the data of some events of one table.

    Raises
    ------
    DamagedEventError
        If they do not end where the data does.
    """
    memory = Memory(b"".join(parts))
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
    at = ends - np.fromiter(map(len, parts), np.int64, len(parts))
    active = np.flatnonzero(at < ends)
    at, limits = at[active], ends[active]
    starts, events, numbers = [], [], []
    step = 0
    while len(active):
        starts.append(at)
        events.append(active)
        numbers.append(np.full(len(active), step))
        at = _after(memory, at, layouts)
        is_open = at < limits
        if (at > limits).any():
            raise DamagedEventError("a row is longer than its event")
        if not is_open.all():
            active, at, limits = active[is_open], at[is_open], limits[is_open]
        step += 1
    if not starts:
        empty = np.zeros(0, np.int64)
        return Images(memory, empty, empty, empty)
    found = np.concatenate(starts)
    order = np.argsort(found, kind="stable")
    return Images(
        memory, found[order], np.concatenate(events)[order], np.concatenate(numbers)[order]
    )


def _after(memory: Memory, starts: Places, layouts: Sequence[Layout]) -> Places:
    """Return where images end."""
    nulls = _nulls(memory, starts, len(layouts))
    at = starts + (len(layouts) + 7) // 8
    fixed = 0
    for index, layout in enumerate(layouts):
        is_null = nulls[index]
        if is_null is None and layout.size:
            fixed += layout.size
            continue
        if fixed:
            at, fixed = at + fixed, 0
        at = _end(memory, at, layout, is_null)[1]
    return at + fixed


def _nulls(memory: Memory, starts: Places, count: int) -> list[Flags | None]:
    """Return which images have no value, by column; None: all have one."""
    found: list[Flags | None] = []
    for first in range(0, count, 8):
        bits = memory.bytes[starts + first // 8]
        if first + 8 > count:
            bits = bits & np.uint8((1 << count - first) - 1)  # the rest is not said
        some = int(np.bitwise_or.reduce(bits)) if len(bits) else 0
        found += [
            (bits >> bit & 1).astype(np.bool_) if some >> bit & 1 else None
            for bit in range(min(8, count - first))
        ]
    return found


def _end(
    memory: Memory, at: Places, layout: Layout, is_null: Flags | None
) -> tuple[Places, Places]:
    """Return where the values of a column begin and end."""
    if layout.size:
        sizes: int | Places = layout.size
        begins = at
    else:
        sizes = memory.little(at, layout.prefix).astype(np.int64)
        begins = at + layout.prefix
    if is_null is None:
        return begins, begins + sizes
    return np.where(is_null, at, begins), np.where(is_null, at, begins + sizes)


def columns_of(images: Images, layouts: Sequence[Layout]) -> Iterator[ColumnSpans]:
    """Yield where the values of each column are, in all images."""
    nulls = _nulls(images.memory, images.starts, len(layouts))
    at = images.starts + (len(layouts) + 7) // 8
    for layout, is_null in zip(layouts, nulls, strict=True):
        begins, at = _end(images.memory, at, layout, is_null)
        yield ColumnSpans(begins, at, is_null)
