"""Instants that were stored as if the clock of the local time zone were that of UTC.

Java Paimon writes TIMESTAMP WITH LOCAL TIME ZONE to ORC so, unless
``orc.timestamp-ltz.legacy.type`` is false: it takes the wall clock of an instant in UTC for one
in the zone of the process, and back when it reads. Writer and reader have to be in the same
zone.

Source: apache/paimon@1.3.1 ``org.apache.paimon.format.orc.writer.FieldWriterFactory``,
``org.apache.paimon.format.orc.reader.OrcTimestampColumnVector``.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import UnsupportedError

_ZONES = "zoneinfo/"


def from_local_clock(instants: pa.Array) -> pa.Array:
    """Return what Java reads: the wall clock of each instant in the local zone, as if of UTC.

    Parameters
    ----------
    instants
        Timestamps of zone UTC, as stored.
    """
    zone = local_zone()
    if zone == "UTC":
        return instants
    local = instants.cast(pa.timestamp(instants.type.unit, tz=zone))
    return pc.local_timestamp(local).cast(instants.type)


def to_local_clock(instants: pa.Array) -> pa.Array:
    """Return what Java writes: the instant at which the local clock shows what UTC's shows.

    A clock that shows a time twice means the first, one that skips it an hour later, as in
    Java.
    """
    zone = local_zone()
    if zone == "UTC":
        return instants
    clock = instants.cast(pa.timestamp(instants.type.unit))
    zoned = pc.assume_timezone(clock, zone, ambiguous="earliest", nonexistent="latest")
    return zoned.cast(instants.type)


def local_zone() -> str:
    """Return the name of the time zone of this process.

    Raises
    ------
    UnsupportedError
        If it cannot be found.
    """
    if time.timezone == 0 and not time.daylight:
        return "UTC"
    name = os.environ.get("TZ", "").lstrip(":") or os.path.realpath("/etc/localtime")
    name = name.rpartition(_ZONES)[2]
    if not (Path("/usr/share") / _ZONES / name).is_file():
        raise UnsupportedError(
            "orc.timestamp-ltz.legacy.type = 'true' in a time zone without a name",
            "instants in ORC are stored by the local clock; set TZ to a zone like Europe/Berlin",
        )
    return name
