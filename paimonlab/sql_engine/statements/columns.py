"""Columns that statements define: their names and types as Spark reads them."""

from __future__ import annotations

from sqlglot import exp

from paimonlab.spec.types.data_types import DataField, DataType, with_nullable
from paimonlab.spec.types.text import parse_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import quoted

_TYPES = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "INT": "INT",
    "BIGINT": "BIGINT",
    "FLOAT": "FLOAT",
    "DOUBLE": "DOUBLE",
    "TEXT": "STRING",
    "BINARY": "BYTES",
    "DATE": "DATE",
    "TIMESTAMPNTZ": "TIMESTAMP(6)",
    "TIMESTAMPTZ": "TIMESTAMP_LTZ(6)",
    "TIMESTAMPLTZ": "TIMESTAMP_LTZ(6)",
    "TIMESTAMP": "TIMESTAMP_LTZ(6)",
    "VARIANT": "VARIANT",
}
"""Spark's types, as sqlglot calls them, in Paimon's words."""
_ELSEWHERE = {
    **dict.fromkeys(("VARCHAR", "CHAR"), "Write STRING, or VARCHAR(10)"),
    "DATETIME": "Write TIMESTAMP, or TIMESTAMP_NTZ for a time without a zone",
    **dict.fromkeys(("UUID", "JSON", "JSONB"), "Write STRING"),
}
"""Types of other databases: what is written instead."""
_SIZED = frozenset({"CHAR", "VARCHAR", "DECIMAL"})


def column_of(node: exp.ColumnDef, position: int) -> tuple[DataField, bool]:
    """Return a column of a definition, and whether it is a primary key.

    Raises
    ------
    NotTranslatedError
        If its type, or what is said of it, is not proven to become what Spark makes of it.
    """
    check_parts(node, "this", "kind", "constraints", "position")
    is_nullable, comment, is_key = True, None, False
    for one in node.args.get("constraints") or ():
        match one.kind:
            case exp.NotNullColumnConstraint():
                is_nullable = bool(one.kind.args.get("allow_null"))
            case exp.CommentColumnConstraint():
                comment = fixed_text(one.kind.this)
            case exp.PrimaryKeyColumnConstraint():
                is_key = True
            case _:
                raise NotTranslatedError(f"{one.sql('spark')} of a column", node.name)
    if node.args.get("kind") is None:
        raise NotTranslatedError(f"the column {node.name} without a type", node.name)
    kind = with_nullable(type_of(node.args["kind"]), is_nullable)
    return DataField(position, node.name, kind, comment), is_key


def type_of(node: exp.DataType) -> DataType:
    """Return the type of a column.

    Raises
    ------
    NotTranslatedError
        If columns do not get it here.
    """
    return parse_type(_text(node))


def fixed_text(node: exp.Expression | None) -> str:
    """Return the text of a literal: a comment, the value of a property."""
    if isinstance(node, exp.Boolean):
        return str(node.this).lower()
    if isinstance(node, exp.Literal):
        return str(node.this)
    raise NotTranslatedError(f"{node and node.sql('spark')} where a text is wanted")


def _text(node: exp.Expression) -> str:
    """Write a type in Paimon's words."""
    if not isinstance(node, exp.DataType):
        raise NotTranslatedError(f"the type {node.sql('spark')}", node.sql("spark"))
    name = str(node.this.value if hasattr(node.this, "value") else node.this).upper()
    inner = node.expressions
    if name == "STRUCT":
        return f"ROW<{', '.join(map(_field, inner))}>"
    if name == "ARRAY" and len(inner) == 1:
        return f"ARRAY<{_text(inner[0])}>"
    if name == "MAP" and len(inner) == 2:
        return f"MAP<{_text(inner[0])} NOT NULL, {_text(inner[1])}>"
    if name in _SIZED:
        sizes = [str(int(part.this.name)) for part in inner]
        if name == "DECIMAL":
            sizes = [*sizes, *("10", "0")[len(sizes) :]]
        if sizes:
            return f"{name}({', '.join(sizes)})"
    if name not in _TYPES or inner:
        hint = _ELSEWHERE.get(name, "")
        raise NotTranslatedError(f"the type {name}", name, hint)
    return _TYPES[name]


def _field(node: exp.Expression) -> str:
    if not isinstance(node, exp.ColumnDef):
        raise NotTranslatedError(f"{node.sql('spark')} in a STRUCT", "STRUCT")
    field, _ = column_of(node, 0)
    name = "`" + field.name.replace("`", "``") + "`"
    comment = "" if field.description is None else f" {quoted(field.description)}"
    nullable = "" if field.type.nullable else " NOT NULL"
    return f"{name} {_text(node.args['kind'])}{nullable}{comment}"
