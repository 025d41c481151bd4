"""``OPTIMIZE``, ``DESCRIBE HISTORY`` and their like, for those who know them of other formats.

What only rewrites is run as the procedure that does it. What deletes is answered with the calls
that do it, as they keep other things.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from paimonlab.clock import now_millis
from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.places import Place, active_state, place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spec.sql_text.call_text import call_text, quoted
from paimonlab.spec.sql_text.habit_syntax import Habit
from paimonlab.spec.sql_text.reader import StatementSyntaxError
from paimonlab.spec.sql_text.tokens import Span


def habit_text(bridge: Bridge, habit: Habit) -> str | None:
    """Return the statement of Paimon's in the place of one of another format.

    Returns
    -------
    str or None
        None if the table is in a catalog that is not ours.

    Raises
    ------
    UnsupportedError
        If it deletes; says which calls do.
    """
    place = place_of(bridge, habit.table, habit.statement)
    if place is None:
        return None
    if habit.statement == "DESCRIBE HISTORY":
        if place.catalog.has_table(f"{place.database}.history"):
            return None  # DESCRIBE of a column of that table
        return _history(place, habit.limit)
    calls = [
        _in_catalog(place, call_text(name, place.name, **_exact(bridge, name, arguments, habit)))
        for name, arguments in habit.procedures
    ]
    if habit.is_run:
        return calls[0]
    raise UnsupportedError(
        f"{habit.statement} {place.name}", f"run {' and '.join(calls)}; {habit.remark}"
    )


def _history(place: Place, limit: int | None) -> str:
    parts = [place.catalog_name, place.database, f"{place.table}$snapshots"]
    text = f"SELECT * FROM {'.'.join(map(quoted, parts))} ORDER BY snapshot_id DESC"  # noqa: S608
    return text if limit is None else f"{text} LIMIT {limit}"


def _in_catalog(place: Place, call: str) -> str:
    return call.replace("CALL sys.", f"CALL {quoted(place.catalog_name)}.sys.", 1)


def _exact(
    bridge: Bridge, procedure: str, arguments: Mapping[str, str | int], habit: Habit
) -> Mapping[str, str | int]:
    """Write times as a procedure takes them.

    Raises
    ------
    StatementSyntaxError
        If one cannot be read.
    """
    if procedure == "expire_snapshots" and habit.hours is not None:
        then = datetime.fromtimestamp(now_millis() / 1000 - habit.hours * 3600).astimezone()
        return {**arguments, "older_than": then.strftime("%Y-%m-%d %H:%M:%S")}
    if procedure != "rollback_to_timestamp":
        return arguments
    text = str(arguments["timestamp"])
    zone = ZoneInfo(str(active_state(bridge).conf().sessionLocalTimeZone()))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise StatementSyntaxError(f"RESTORE: {text!r} is not a time.", Span(0, 0)) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return {"timestamp": int(moment.timestamp() * 1000)}
