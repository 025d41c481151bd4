"""Instants, and what the clock of the session's zone shows at them."""

from __future__ import annotations

from paimonlab.errors import UnsupportedError
from paimonlab.formats.local_zone import local_zone
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, quoted

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


def shown(value: Value) -> Value:
    """Return the time that the clock shows at an instant; other values as they are."""
    if value.kind != kinds.TIMESTAMP:
        return value
    return Value(f"timezone({quoted(zone())}, {value.text})", kinds.TIMESTAMP_NTZ, value.name)


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
    found = f"timezone({quoted(where)}, {text})"
    if where in _FIXED:
        return found
    hour = "INTERVAL 1 HOUR"
    again = f"timezone({quoted(where)}, {found} - {hour}) = {text}"
    return f"(CASE WHEN {again} THEN {found} - {hour} ELSE {found} END)"
