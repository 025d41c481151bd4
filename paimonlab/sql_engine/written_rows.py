"""``VALUES``: rows that are written in a statement."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from paimonlab.errors import SchemaError
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.kinds import Kind, common, duck_type
from paimonlab.sql_engine.protocols import Translated
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast


def written_rows(node: exp.Values, translate: Callable[[exp.Expression], Value]) -> Translated:
    """Translate them.

    Raises
    ------
    SchemaError
        If they are of different length.
    NotTranslatedError
        If the values of a column have no type together.
    """
    rows = [
        [translate(one) for one in (row.expressions if isinstance(row, exp.Tuple) else [row])]
        for row in node.expressions
    ]
    if len({len(row) for row in rows}) != 1:
        raise SchemaError("VALUES has rows of different length")
    types: list[Kind] = []
    for column in zip(*rows, strict=True):
        kind: Kind = kinds.VOID
        for value in column:
            wider = common(kind, value.kind)
            if wider is None:
                hint = "Each row is in brackets: VALUES (1, 'a'), (2, 'b')"
                raise NotTranslatedError("VALUES of different types", "VALUES", hint)
            kind = wider
        types.append(kind)
    lines = []
    for row in rows:
        parts = [_of_kind(value, kind) for value, kind in zip(row, types, strict=True)]
        lines.append(f"({', '.join(parts)})")
    columns = tuple((f"col{number}", kind) for number, kind in enumerate(types, start=1))
    return Translated(f"SELECT * FROM (VALUES {', '.join(lines)})", columns)


def _of_kind(value: Value, kind: Kind) -> str:
    if kind == kinds.VOID:
        return value.text
    if kind == kinds.TIMESTAMP and value.kind != kinds.VOID:
        return cast(value, kind).text
    if kinds.is_atomic(kind):
        return f"CAST({value.text} AS {duck_type(kind)})"
    if value.kind not in (kind, kinds.VOID):
        raise NotTranslatedError("VALUES of nested types that differ", "VALUES")
    return value.text
