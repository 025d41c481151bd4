"""``OPTIMIZE``, ``DESCRIBE HISTORY`` and their like, for those who know them of other formats.

What only rewrites is run as the procedure that does it. What deletes is answered with the calls
that do it, as they keep other things.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

from msgspec.structs import replace

from paimonlab.procedures.described import DESCRIBED, described_text
from paimonlab.procedures.habits import calls_of, refusal, texts_of
from paimonlab.spark.catalogs.places import Place, active_state, place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spec.sql_text.call_text import quoted, table_text
from paimonlab.spec.sql_text.habit_syntax import Habit


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
    if described in DESCRIBED:
        if place.catalog.has_table(f"{place.database}.{described}"):
            return None  # DESCRIBE of a column of that table
        path = (place.catalog_name, place.database, place.table)
        return described_text(habit, place.catalog.relation(place.name), path)
    if habit.target:
        target = place_of(bridge, habit.target, habit.statement)
        name = ".".join(habit.target) if target is None else target.name
        habit = replace(habit, procedures=(("copy", {"target_table": table_text(name)}),))
    zone = ZoneInfo(str(active_state(bridge).conf().sessionLocalTimeZone()))
    calls = [_in_catalog(place, call) for call in texts_of(place.name, calls_of(habit, zone))]
    if habit.is_run:
        return calls[0]
    raise refusal(habit, place.name, calls)


def _in_catalog(place: Place, call: str) -> str:
    return call.replace("CALL sys.", f"CALL {quoted(place.catalog_name)}.sys.", 1)
