"""Which columns are still the same after some were renamed and dropped.

Names do not tell: a column that was dropped and added again has none of its old values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from paimonlab.ingest.changes import JsonValue, SourceSchema, SourceSchemaChange

DROPPED = ""
"""In place of the new name of a column that was dropped."""


_ADDED = "\0"
"""Begins what stands for a column that was added, which had no name at first."""


def moved(
    before: Mapping[str, str],
    renamed: Mapping[str, str],
    dropped: Iterable[str],
    added: Iterable[str] = (),
    known: Iterable[str] = (),
) -> dict[str, str]:
    """Return what became of columns after one more statement.

    Parameters
    ----------
    before
        What became of them so far: names at first to names now, or `DROPPED`. Those that were
        added since are in it, too.
    renamed, dropped, added
        What the statement does, by names now, in upper or lower case as it likes.
    known
        Names at first, as far as they are known.

    Examples
    --------
    >>> moved({"a": "b"}, {"B": "c"}, ["d"])
    {'a': 'c', 'd': ''}
    """
    spelled = {name.casefold(): name for name in names_now(before, known)}
    said = {spelled.get(old.casefold(), old): new for old, new in renamed.items()}
    said |= {spelled.get(name.casefold(), name): DROPPED for name in dropped}
    found = {old: said.get(name, name) for old, name in before.items()}
    names = {*before.values()}
    found |= {old: new for old, new in said.items() if old not in names and old not in before}
    found = {old: name for old, name in found.items() if name or not old.startswith(_ADDED)}
    for name in added:
        key = _ADDED + name
        while key in found:
            key = _ADDED + key
        found[key] = name
    return found


def names_now(before: Mapping[str, str], known: Iterable[str]) -> list[str]:
    """Return the names that columns have, as far as they are known.

    Parameters
    ----------
    before, known
        As of `moved`.
    """
    return [*(name for name in known if name not in before), *filter(None, before.values())]


def steps(
    after: SourceSchema, names: Mapping[str, str]
) -> tuple[tuple[SourceSchema, dict[str, str]], ...]:
    """Return schemas that a table has one after the other, with columns that each renames.

    Where a new column has the name of one that was dropped or renamed, the first of two lacks it.
    """
    first = {old: name for old, name in names.items() if not old.startswith(_ADDED)}
    kept = {name: old for old, name in first.items() if name in after.names}
    renamed = {old: name for name, old in kept.items() if old != name}
    anew = {name for name in after.names if name in first and name not in kept}
    if not anew:
        return ((after, renamed),)
    without = replace(
        after,
        columns=tuple(column for column in after.columns if column.name not in anew),
        primary_keys=tuple(name for name in after.primary_keys if name not in anew),
    )
    return (without, renamed), (after, {})


def schema_changes(
    table: str,
    before: SourceSchema | None,
    after: SourceSchema,
    names: Mapping[str, str],
    here: JsonValue,
    reason: str,
) -> Iterator[SourceSchemaChange]:
    """Yield how a table gets another schema.

    Parameters
    ----------
    names
        What became of its columns, as `moved` returns it.
    """
    found = steps(after, names)
    if before == after and len(found) == 1:
        return
    for schema, renamed in found:
        yield SourceSchemaChange(
            table=table,
            before=before,
            after=schema,
            position=here,
            reason=reason,
            renamed=renamed,
        )
        before = schema
