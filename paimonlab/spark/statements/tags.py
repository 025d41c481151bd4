"""``ALTER TABLE t CREATE TAG …`` and its like: calls of procedures about tags.

Source: apache/paimon@5dacde5 ``CreateOrReplaceTagExec``, ``DeleteTagExec``, ``RenameTagExec``.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import StructType

from paimonlab.errors import TagNotFoundError, UnsupportedError
from paimonlab.procedures import bind, find
from paimonlab.spark.catalogs.places import Place, place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import command
from paimonlab.spec.sql_text.tag_syntax import TagStatement, TagVerb
from paimonlab.table.table import Table


def tag_command(bridge: Bridge, statement: TagStatement) -> Any:
    """Return the command that does what a statement about tags says; it answers no rows.

    Raises
    ------
    UnsupportedError
        If the table is in a catalog that is not ours.
    """
    name = ".".join(statement.table)
    text = f"ALTER TABLE {name} {statement.verb.value} {statement.tag}"

    def run(session: Any) -> list[list[int]]:
        del session
        place = place_of(bridge, statement.table, "ALTER TABLE")
        if place is None:
            raise UnsupportedError(text, "only tables of a Paimon catalog have tags")
        _run(place, statement)
        return []

    return command(bridge, run, text, StructType())


def _run(place: Place, statement: TagStatement) -> None:
    table = place.catalog.relation(place.name)
    if not isinstance(table, Table):
        raise UnsupportedError(f"changing {table.name}", "a system table is read-only")
    exists = statement.tag in table.tags.list()
    match statement.verb:
        case TagVerb.RENAME:
            _call(place, "rename_tag", tag=statement.tag, target_tag=statement.target)
        case TagVerb.DELETE:
            names = [name.strip() for name in statement.tag.split(",")]
            missing = [name for name in names if name not in table.tags.list()]
            if missing and not statement.is_lenient:
                raise TagNotFoundError(table.name, missing[0], list(table.tags.list()))
            _call(place, "delete_tag", tag=statement.tag)
        case TagVerb.REPLACE if exists:
            _call(place, "replace_tag", **_of_snapshot(statement))
        case TagVerb.CREATE if exists and statement.is_lenient:
            pass
        case _:
            _call(place, "create_tag", **_of_snapshot(statement))


def _of_snapshot(statement: TagStatement) -> dict[str, object]:
    life = statement.time_retained
    return {
        "tag": statement.tag,
        "snapshot": statement.snapshot,
        "time_retained": None if life is None else f"{int(life.total_seconds())} s",
    }


def _call(place: Place, procedure: str, **arguments: object) -> None:
    found = find(procedure)
    given = {name: value for name, value in arguments.items() if value is not None}
    found.call(place.catalog, bind(found, named={"table": place.name, **given}))
