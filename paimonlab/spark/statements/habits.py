"""``OPTIMIZE``, ``DESCRIBE HISTORY`` and their like, for those who know them of other formats.

What only rewrites is run as the procedure that does it. What deletes is answered with the calls
that do it, as they keep other things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from zoneinfo import ZoneInfo

from paimonlab.errors import UnsupportedError
from paimonlab.procedures.habits import calls_of, refusal, texts_of
from paimonlab.spark.catalogs.places import Place, active_state, place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spec.sql_text.call_text import literal, quoted, table_text
from paimonlab.spec.sql_text.habit_syntax import Habit
from paimonlab.table.table import Table


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
    described = habit.statement.removeprefix("DESCRIBE ").lower()
    if described in _DESCRIBED:
        if place.catalog.has_table(f"{place.database}.{described}"):
            return None  # DESCRIBE of a column of that table
        return _DESCRIBED[described](place, habit)
    if habit.target:
        target = place_of(bridge, habit.target, habit.statement)
        name = ".".join(habit.target) if target is None else target.name
        habit = replace(habit, procedures=(("copy", {"target_table": table_text(name)}),))
    zone = ZoneInfo(str(active_state(bridge).conf().sessionLocalTimeZone()))
    calls = [_in_catalog(place, call) for call in texts_of(place.name, calls_of(habit, zone))]
    if habit.is_run:
        return calls[0]
    raise refusal(habit, place.name, calls)


def _history(place: Place, habit: Habit) -> str:
    snapshots = _system_table(place, "snapshots")
    text = f"SELECT * FROM {snapshots} ORDER BY snapshot_id DESC"  # noqa: S608
    return text if habit.limit is None else f"{text} LIMIT {habit.limit}"


def _detail(place: Place, _habit: Habit) -> str:
    """Return a query for what Delta's statement says of a table, but for its features."""
    table = place.catalog.relation(place.name)
    if not isinstance(table, Table):
        raise UnsupportedError(f"DESCRIBE DETAIL {table.name}", "a system table has no files")
    comment = table.schema.comment
    columns = {
        "format": "'paimon'",
        "name": literal(f"{place.catalog_name}.{place.name}"),
        "description": literal(comment) if comment else "CAST(NULL AS STRING)",
        "location": literal(table.path),
        "lastModified": f"(SELECT max(commit_time) FROM {_system_table(place, 'snapshots')})",  # noqa: S608
        "partitionColumns": _texts(table.partition_keys),
        "primaryKey": _texts(table.primary_keys),
        "numFiles": "count(*)",
        "sizeInBytes": "coalesce(sum(file_size_in_bytes), 0)",
    }
    selected = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    return f"SELECT {selected} FROM {_system_table(place, 'files')}"  # noqa: S608


_DESCRIBED: Mapping[str, Callable[[Place, Habit], str]] = MappingProxyType(
    {"history": _history, "detail": _detail}
)
"""Queries by what DESCRIBE describes; a table may be called so, too."""


def _texts(values: Sequence[str]) -> str:
    return f"CAST(array({', '.join(map(literal, values))}) AS ARRAY<STRING>)"


def _system_table(place: Place, name: str) -> str:
    parts = [place.catalog_name, place.database, f"{place.table}${name}"]
    return ".".join(map(quoted, parts))


def _in_catalog(place: Place, call: str) -> str:
    return call.replace("CALL sys.", f"CALL {quoted(place.catalog_name)}.sys.", 1)
