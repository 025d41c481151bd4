"""What all errors have in common."""

from __future__ import annotations

from collections.abc import Iterable

from paimonlab.interrupts import whole_module
from paimonlab.secrets import without_secrets


def close_matches(name: str, known: Iterable[str], within: str = "") -> str:
    """Say which known names look like ``name``: `` Did you mean 'a' or 'b'?``, or nothing.

    Parameters
    ----------
    name, known
        A name, and those that there are. One that differs in the case alone is what is meant.
    within
        What is written before each name, as ``db.``.

    Examples
    --------
    >>> close_matches("Unit", ["id", "unity", "Unit Price"])
    " Did you mean `Unit Price` or 'unity'?"
    >>> close_matches("orders", ["Orders", "orders_old"], within="db.")
    " Did you mean 'db.Orders'?"
    """
    candidates = {candidate.lower(): candidate for candidate in known}
    wanted = name.lower()
    if wanted in candidates and candidates[wanted] != name:
        return f" Did you mean {_quoted(within + candidates[wanted])}?"
    matches = [candidate for candidate in candidates if candidate.startswith(f"{wanted} ")][:3]
    close = similar(wanted, candidates, cutoff=0.6)
    matches.extend(match for match in close[: 3 - len(matches)] if match not in matches)
    if not matches:
        return ""
    shown = [_quoted(within + candidates[match]) for match in matches]
    return f" Did you mean {' or '.join(shown)}?"


def similar(name: str, known: Iterable[str], *, cutoff: float) -> list[str]:
    """Return up to three names that are written alike, the nearest first."""
    found: list[str] = whole_module("difflib").get_close_matches(name, list(known), 3, cutoff)
    return found


def _quoted(name: str) -> str:
    """Quote a name as messages do, and one with a blank as SQL needs it."""
    return f"`{name}`" if " " in name else repr(name)


def without_database(name: str, known: Iterable[str]) -> str:
    """Say which ``database.table`` are meant by a name alone, or nothing.

    Examples
    --------
    >>> without_database("sales", ["shop.sales", "shop.stores"])
    " Did you mean 'shop.sales'?"
    >>> without_database("store", ["shop.sales", "shop.stores"])
    " Did you mean 'shop.stores'?"
    """
    by_table: dict[str, list[str]] = {}
    for full in known:
        by_table.setdefault(full.rpartition(".")[2].lower(), []).append(full)
    wanted = name.lower()
    tables = [wanted] if wanted in by_table else similar(wanted, by_table, cutoff=0.6)
    if not tables:
        return ""
    meant = [full for table in tables for full in by_table[table]][:3]
    return " Did you mean " + " or ".join(map(repr, meant)) + "?"


class PaimonError(Exception):
    """Base of all errors that a caller may want to handle."""

    def __repr__(self) -> str:
        return without_secrets(super().__repr__())
