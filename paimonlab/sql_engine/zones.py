"""What the clock of the session's zone shows, in DuckDB's SQL."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from paimonlab.errors import UnsupportedError
from paimonlab.formats.local_zone import local_zone
from paimonlab.sql_engine.refusal import NotTranslatedError

_FIXED = frozenset({"UTC", "Etc/UTC", "Z", "GMT", "Etc/GMT"})


def zone() -> str:
    """Return the zone of this process, which is that of a session of Spark's.

    Raises
    ------
    NotTranslatedError
        If it has no name.
    """
    try:
        return str(local_zone())
    except UnsupportedError:
        raise NotTranslatedError("TIMESTAMP in a zone without a name", "TIMESTAMP") from None


def is_fixed() -> bool:
    """Tell whether the clock is never put forward or back."""
    return zone() in _FIXED


def instant(text: str, where: str = "") -> str:
    """Return when the clock shows a time: the first of two, and later by what is left out.

    Parameters
    ----------
    text
        The time.
    where
        The zone of the clock; empty: that of the session.
    """
    where = where or zone()
    found = f"timezone('{where}', {text})"
    if where in _FIXED:
        return found
    # As Java does: the clock as it was put before it is changed next, which shows a time that
    # there are two of first, and one that there is none of that much later.
    past = f"{found} - INTERVAL 48 HOUR"
    offset = f"(timezone('{where}', {past}) - timezone('UTC', {past}))"
    before = f"timezone('UTC', {text} - {offset})"
    is_later = f"timezone('{where}', {before}) <> {text}"
    is_shown = f"timezone('{where}', {found}) = {text}"
    return f"(CASE WHEN {is_later} AND {is_shown} THEN {found} ELSE {before} END)"


def moment(clock: datetime) -> datetime:
    """Return the instant, in UTC, at which the clock shows a time, as Java finds it."""
    return clock.replace(tzinfo=ZoneInfo(zone())).astimezone(UTC)


def clock(moment: datetime) -> datetime:
    """Return what the clock shows at an instant."""
    return moment.astimezone(ZoneInfo(zone())).replace(tzinfo=None)
