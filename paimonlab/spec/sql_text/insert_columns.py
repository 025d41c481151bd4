"""What to write where a query gives an INSERT too few or too many columns."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.sql_text.call_text import quoted

_MOST_NAMES = 10


def columns_advice(
    table: str, given: Sequence[str], wanted: Sequence[str], required: Sequence[str] = ()
) -> str:
    """Say which columns are missing or too many, and what to write.

    Parameters
    ----------
    table
        ``database.table``.
    given
        Names of the columns of the query. If all of them are columns of the table they say which
        are missing; else it is the last ones.
    wanted
        The columns that are filled: those of the table, or those that INSERT names.
    required
        The columns that are never NULL.

    Examples
    --------
    >>> columns_advice("db.t", ["a", "id"], ["id", "a", "b"])
    'b is missing; to leave it NULL name the columns given: INSERT INTO db.t (a, id) …'
    >>> columns_advice("db.t", ["col1"], ["id", "a", "b"], ["a"])
    'a, b are missing, and a is NOT NULL: give it a value'
    >>> columns_advice("db.t", ["id", "a", "c"], ["id", "a"])
    'c is too many: leave it out'
    """
    named = {name.lower(): name for name in wanted}
    known = [named[name.lower()] for name in given if name.lower() in named]
    if len(given) > len(wanted):
        surplus = [name for name in given if name.lower() not in named]
        surplus = surplus if len(surplus) == len(given) - len(wanted) else [*given[len(wanted) :]]
        names, is_one = _listed(surplus), len(surplus) == 1
        return f"{names} {'is' if is_one else 'are'} too many: leave {_it(surplus)} out"
    is_by_name = len(known) == len(given) == len(set(known))
    filled = known if is_by_name else list(wanted[: len(given)])
    missing = [name for name in wanted if name not in filled]
    what = f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    never_null = [name for name in missing if name in required]
    if never_null:
        be = "is" if len(never_null) == 1 else "are"
        value = "it a value" if len(never_null) == 1 else "them values"
        return f"{what}, and {_listed(never_null)} {be} NOT NULL: give {value}"
    into = f"INSERT INTO {table} ({_listed([quoted(name) for name in filled])}) …"
    return f"{what}; to leave {_it(missing)} NULL name the columns given: {into}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")


def _it(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"
