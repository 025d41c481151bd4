"""``PARTITION (…)`` of an INSERT: which partition columns it gives values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from paimonlab.errors import SchemaError
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.expressions import Translator
from paimonlab.sql_engine.given import Given
from paimonlab.sql_engine.kinds import kind_of
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Scope
from paimonlab.sql_engine.value import Value, read_text
from paimonlab.table.table import Table

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


def values_of(node: exp.Expression | None, table: Table, given: Given) -> dict[str, Any]:
    """Return the values that ``PARTITION (…)`` gives, by the names of partition columns.

    Columns that the query gives values are left out; None: there is no such clause.

    Raises
    ------
    SchemaError
        If a name is no partition column.
    NotTranslatedError
        If a value is not proven to be what Spark makes of it.
    """
    names = {name.lower(): name for name in table.partition_keys}
    values: dict[str, Any] = {}
    listed: set[str] = set()
    for one in () if node is None else node.expressions:
        column = one.this if isinstance(one, exp.EQ) else one
        if not isinstance(column, exp.Column | exp.Identifier):
            raise NotTranslatedError(f"PARTITION ({one.sql('spark')})", "PARTITION")
        name = names.get(column.name.lower())
        if name is None:
            keys = ", ".join(table.partition_keys) or "none"
            raise SchemaError(
                f"{table.name}: {column.name!r} is no partition column; they are: {keys}"
            )
        if name in listed:
            raise SchemaError(f"{table.name}: PARTITION names {name} twice")
        listed.add(name)
        if isinstance(one, exp.EQ):
            value = Translator(Scope(), given, _no_query, allows="none").value(one.expression)
            values[name] = _stored(value, kind_of(table.schema.field(name).type), name)
    return values


def check_replaced(table: Table, values: Mapping[str, Any]) -> None:
    """Check that an INSERT OVERWRITE says which partition it replaces.

    Raises
    ------
    NotTranslatedError
        If a setting of Spark's session decides it.
    """
    keys = table.partition_keys
    if keys and len(values) < len(keys):
        named = ", ".join(f"{key} = …" for key in keys)
        raise NotTranslatedError(
            "INSERT OVERWRITE of partitions that the query names",
            "OVERWRITE",
            "Whether others stay is spark.sql.sources.partitionOverwriteMode of a session; write "
            f"PARTITION ({named}), or in Python table.overwrite(rows, dynamic=True)",
        )


def _stored(value: Value, kind: kinds.Kind | None, name: str) -> Any:
    """Return the value of a partition column; Spark casts the text of what is written."""
    given = value.literal if value.is_literal else None
    if kind == kinds.STRING and type(given) in (str, int) and given != "":
        return str(given)
    if kind is not None and kinds.is_whole(kind):
        if type(given) is int:
            return given
        if type(given) is str and _WHOLE_NUMBER.fullmatch(given):
            return int(given)
    if kind == kinds.DATE and given is not None:
        read = value if value.kind == kinds.DATE else read_text(value, kinds.DATE)
        if read is not None:
            return read.literal
    raise NotTranslatedError(f"PARTITION ({name} = …) of such a value", name)


def _no_query(_node: exp.Expression, _scope: Scope) -> Any:
    raise NotTranslatedError("a query in PARTITION", "SELECT")
