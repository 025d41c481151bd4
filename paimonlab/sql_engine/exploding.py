"""``LATERAL VIEW`` and ``explode`` in a select list: a row for each element."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from paimonlab.spec.types.data_types import ArrayType, MapType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Relation, SqlColumn
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import Value

NAMES = ("explode", "explode_outer", "posexplode", "posexplode_outer")
"""What makes rows, in small letters."""


def lateral(node: exp.Lateral, value: Value, alias: str) -> tuple[str, Relation]:
    """Translate ``LATERAL VIEW``.

    Parameters
    ----------
    node
        Its tree.
    value
        What is exploded.
    alias
        A name for the relation.

    Returns
    -------
    text : str
        The join, to be written after the relations before it.
    relation : Relation
        Its columns.

    Raises
    ------
    NotTranslatedError
        If it is not proven.
    """
    return _joined(node, _parts(str(node.this.this).lower(), value), alias)


def beside(node: exp.Lateral, values: Sequence[Value], alias: str) -> tuple[str, Relation]:
    """Translate ``LATERAL VIEW`` of what makes one row, as `lateral` does."""
    return _joined(node, [(value.name, value.kind, value.text) for value in values], alias)


def _joined(
    node: exp.Lateral, made: Sequence[tuple[str, Kind, str]], alias: str
) -> tuple[str, Relation]:
    check_parts(node, "this", "view", "outer", "alias")
    name = str(node.this.this).lower()
    given = node.args["alias"]
    names = [one.name for one in given.args.get("columns") or ()] or [one for one, _, _ in made]
    if len(names) != len(made):
        raise NotTranslatedError(f"{len(names)} names for what {name}() makes", name)
    columns = tuple(
        SqlColumn(called, kind, f"{alias}.c{number}")
        for number, (called, (_, kind, _)) in enumerate(zip(names, made, strict=True))
    )
    texts = ", ".join(f"{text} AS c{number}" for number, (_, _, text) in enumerate(made))
    is_outer = bool(node.args.get("outer")) or name.endswith("_outer")
    word = "LEFT JOIN" if is_outer else "INNER JOIN"
    view = (given.name,) if given.name else ()
    return f" {word} LATERAL (SELECT {texts}) AS {alias} ON true", Relation(view, columns)


def listed(name: str, value: Value) -> Value:
    """Translate ``explode(…)`` in a select list.

    Raises
    ------
    NotTranslatedError
        If it makes several columns, or rows for nothing.
    """
    made = _parts(name, value)
    if len(made) != 1 or name.endswith("_outer"):
        raise NotTranslatedError(f"{name}() in SELECT", name)
    called, kind, text = made[0]
    return Value(text, kind, called)


def _parts(name: str, value: Value) -> Sequence[tuple[str, Kind, str]]:
    """Return names, types and texts of the columns."""
    sql, kind = value.text, value.kind
    place: tuple[str, Kind, str] = ("pos", kinds.INT, _places(sql, kind))
    found: list[tuple[str, Kind | None, str]] = []
    if isinstance(kind, ArrayType):
        found = [("col", kinds.kind_of(kind.element), f"unnest({sql})")]
    elif isinstance(kind, MapType):
        found = [
            ("key", kinds.kind_of(kind.key), f"unnest(map_keys({sql}))"),
            ("value", kinds.kind_of(kind.value), f"unnest(map_values({sql}))"),
        ]
    known = [(one, part, text) for one, part, text in found if part is not None]
    if not known or len(known) != len(found) or name not in NAMES:
        raise NotTranslatedError(f"{name}({kinds.spark_type(kind)})", name)
    return [place, *known] if name.startswith("pos") else known


def _places(sql: str, kind: Kind) -> str:
    length = "cardinality" if isinstance(kind, MapType) else "len"
    return f"CAST(unnest(range(CAST({length}({sql}) AS BIGINT))) AS INTEGER)"
