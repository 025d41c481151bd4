"""Timestamps of ORC files that pyarrow does not read: those outside the years 1677 to 2262.

pyarrow counts nanoseconds in 64 bits. Columns of up to 6 fraction digits are decoded here from
the streams of a stripe: seconds since 2015, and nanoseconds with their zeros cut off.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.formats.orc.protobuf import Message, parse
from paimonlab.formats.orc.runs import Numbers, bits, numbers
from paimonlab.formats.orc.tail import TIMESTAMP, TIMESTAMP_INSTANT, OrcTail, Source, unpacked
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot

_PRESENT, _DATA, _SECONDARY = 0, 1, 5
_DIRECT_V2 = 2
_BASE_SECONDS = 1_420_070_400
"""2015-01-01 00:00:00 in UTC."""
_ZONES = (None, b"", b"UTC", b"GMT", b"Etc/UTC", b"Z")
_TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9}


def is_timestamp(field: DataField) -> bool:
    """Whether a column, not one inside of another, holds timestamps."""
    roots = (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
    return isinstance(field.type, AtomicType) and field.type.root in roots


def read_timestamps(source: Source, tail: OrcTail, index: int, field: DataField) -> pa.Array:
    """Decode one column of a stripe.

    Parameters
    ----------
    source, tail
        The file; its stripe was checked.
    index
        Number of the stripe.
    field
        Column of timestamps.

    Returns
    -------
    pyarrow.Array
        As ``to_arrow(field.type)`` has it, as stored: instants by the local clock stay so.

    Raises
    ------
    UnsupportedError
        If the stripe was written in another zone than UTC, or a value does not fit.
    ValueError
        If the streams are damaged.
    """
    column = tail.columns[field.name]
    stripe = tail.stripes[index]
    stored = source.read(
        stripe.offset + stripe.index_bytes + stripe.data_bytes, stripe.footer_bytes
    )
    footer = parse(unpacked(stored, tail.codec, tail.block_bytes))
    kind = tail.types[column].kind
    is_readable = footer.messages(2)[column].number(1) == _DIRECT_V2
    if kind not in (TIMESTAMP, TIMESTAMP_INSTANT) or not is_readable:
        raise ValueError(f"column {field.name!r} is encoded in an unknown way")
    if kind == TIMESTAMP and footer.single(3) not in _ZONES:
        raise UnsupportedError(
            "ORC timestamps outside the years 1677 to 2262 of another time zone than UTC",
            f"{source.path} has some in {field.name!r}",
        )
    streams = _streams(source, tail, index, footer, column)
    count = stripe.row_count
    is_valid = bits(streams[_PRESENT], count) if _PRESENT in streams else np.ones(count, np.bool_)
    some = int(is_valid.sum())
    seconds = numbers(streams.get(_DATA, b""), some, signed=True) + _BASE_SECONDS
    nanos = _nanos(numbers(streams.get(_SECONDARY, b""), some, signed=False))
    seconds -= (seconds < 0) & (nanos > 999_999)  # stored as if they were cut toward zero
    target = to_arrow(field.type)
    per_second = _TICKS[target.unit]
    step = 10**9 // per_second
    if (nanos % step).any():
        raise ValueError(f"column {field.name!r} has more fraction digits than its type")
    if len(seconds) and np.abs(seconds).max() > (2**63 - 1) // per_second - 1:
        raise UnsupportedError(
            "a TIMESTAMP(7) to (9) outside the years 1677 to 2262",
            f"{source.path} has one in {field.name!r}, and Arrow counts nanoseconds in 64 bits; "
            "leave the column out",
        )
    ticks = np.zeros(count, np.int64)
    ticks[is_valid] = seconds * per_second + nanos // step
    mask = None if is_valid.all() else ~is_valid
    return pa.array(ticks, mask=mask).view(target)


def _streams(
    source: Source, tail: OrcTail, index: int, footer: Message, column: int
) -> dict[int, bytes]:
    position = tail.stripes[index].offset
    streams = {}
    for stream in footer.messages(1):
        kind, length = stream.number(1), stream.number(3)
        if stream.number(2) == column and kind in (_PRESENT, _DATA, _SECONDARY):
            data = source.read(position, length)
            streams[kind] = unpacked(data, tail.codec, tail.block_bytes)
        position += length
    return streams


def _nanos(encoded: Numbers) -> Numbers:
    """Put zeros back: three bits say how many, less one, there were, none below two."""
    zeros = encoded & 7
    return (encoded >> 3) * np.where(zeros, 10 ** (zeros + 1), 1)
