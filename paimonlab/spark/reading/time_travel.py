"""The point in time of a read in Spark: ``VERSION AS OF``, ``TIMESTAMP AS OF``, ``scan.…`` options.

Spark hands over a version as text and a timestamp as microseconds since the epoch (it has read
``TIMESTAMP AS OF '…'`` in the session's time zone). What a version means is the table's rule: a
tag of that name, else ``watermark-<millis>``, else a snapshot id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from paimonlab.errors import SnapshotNotFoundError, UnsupportedError

if TYPE_CHECKING:
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.table.table import Table

TravelArguments: TypeAlias = dict[str, Any]
"""Arguments of `Table.scan` that choose a snapshot; at most one of them."""

TRAVEL_OPTIONS = (
    "scan.snapshot-id",
    "scan.tag-name",
    "scan.timestamp",
    "scan.timestamp-millis",
    "scan.version",
    "scan.watermark",
)
"""Read options that choose a snapshot: ``spark.read.option("scan.tag-name", "t").table(…)``."""
CHANGE_OPTIONS = (
    "incremental-between",
    "incremental-between-timestamp",
    "incremental-to-auto-tag",
)
"""Read options that choose commits, whose new rows are read; at most one of them."""
CHOOSING_OPTIONS = (*TRAVEL_OPTIONS, *CHANGE_OPTIONS)
"""Read options that choose what is read; at most one of them."""
SKIP_OPTIONS = ("scan.ignore-corrupt-files", "scan.ignore-lost-files")
"""Read options that leave files out, whatever chooses the snapshot."""
READ_OPTIONS = (
    *CHOOSING_OPTIONS,
    *SKIP_OPTIONS,
    "incremental-between-scan-mode",
    "incremental-between-tag-to-snapshot",
)
"""All options that one read can have."""
_MICROS_PER_MILLI = 1000


def travel_arguments(arguments: tuple[Any, ...]) -> TravelArguments:
    """Read the point in time out of what Spark passes to ``loadTable`` beside the name.

    Parameters
    ----------
    arguments
        Spark 4.3: a ``TableContext`` and read options. Spark 4.2: a version as text, a timestamp
        as a number, or a set of write privileges.

    Returns
    -------
    TravelArguments
        Empty: now.

    Raises
    ------
    UnsupportedError
        If the statement and an option both choose what is read.
    """
    if not arguments:
        return {}
    first, *rest = arguments
    if isinstance(first, str):
        return {"version": first}
    if isinstance(first, int):
        return {"timestamp": first // _MICROS_PER_MILLI}
    if _class_name(first) != "TableContext":
        return {}
    travel, given = first.timeTravel(), _of_options(rest[0]) if rest else {}
    if not travel.isPresent():
        return given
    for key in given.get("options", {}).keys() - {*SKIP_OPTIONS}:
        raise UnsupportedError(
            f"{key} = {given['options'][key]!r} with VERSION AS OF or TIMESTAMP AS OF",
            "one of them chooses what is read",
        )
    return {**_of_point(travel.get()), **given}


def pinned_snapshot(table: Table, arguments: TravelArguments) -> Snapshot:
    """Find the snapshot of a point in time.

    Raises
    ------
    SnapshotNotFoundError
        If there is no such snapshot.
    """
    snapshot = table.scan(**arguments).snapshot
    if snapshot is None:
        raise SnapshotNotFoundError(table.name, f"for {arguments}", "Nothing was committed yet.")
    return snapshot


def reads_changes(arguments: TravelArguments) -> bool:
    """Say whether what commits changed is asked for, not a state."""
    return not set(CHANGE_OPTIONS).isdisjoint(arguments.get("options", ()))


def skip_options(arguments: TravelArguments) -> dict[str, str]:
    """Return those options of a read that leave files out."""
    given = arguments.get("options", {})
    return {key: given[key] for key in SKIP_OPTIONS if key in given}


def is_of_now(arguments: TravelArguments) -> bool:
    """Say whether a read has options, but none that chooses what is read."""
    return arguments.keys() == {"options"} and arguments["options"].keys() <= {*SKIP_OPTIONS}


def _of_point(point: Any) -> TravelArguments:
    if _class_name(point) == "AsOfVersion":
        return {"version": point.version()}
    return {"timestamp": point.micros() // _MICROS_PER_MILLI}


def _of_options(options: Mapping[str, str]) -> TravelArguments:
    """Keep the options that choose what is read; `Table.scan` checks their values."""
    chosen = {key: options[key] for key in READ_OPTIONS if key in options}
    return {"options": chosen} if chosen else {}


def _class_name(value: Any) -> str:
    return str(value.getClass().getSimpleName())
