"""Instants in the local time of a zone."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

_OFFSET = re.compile(r"([+-])(\d{1,2}):(\d{2})")


def moments(values: pa.Array, kind: pa.DataType, zone: str) -> pa.Array:
    """Return instants as a type.

    Parameters
    ----------
    values
        timestamp without zone, in UTC.
    kind
        timestamp with zone UTC: the instant; without: local time.
    zone
        For local time: a name (``Asia/Shanghai``) or an offset (``+08:00``).
    """
    if kind.tz is not None:
        return values.cast(kind)
    zoned = pa.timestamp(kind.unit, tz=zone)
    return pc.local_timestamp(values.cast(pa.timestamp(kind.unit)).cast(zoned))


def zone_of(text: str) -> str:
    """Return a zone as MySQL writes it, as Arrow takes it.

    Raises
    ------
    ValueError
        If it is not known.
    """
    match = _OFFSET.fullmatch(text)
    found = f"{match[1]}{int(match[2]):02}:{match[3]}" if match else text
    try:
        moments(pa.nulls(1, pa.timestamp("s")), pa.timestamp("s"), found)
        pc.local_timestamp(pa.scalar(0, pa.timestamp("s", tz=found)))
    except pa.ArrowInvalid:
        raise ValueError(f"time zone {text!r} is not known") from None
    return found
