"""Show which statements were run, and which values a cell's parameters get."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from paimonlab.notebook import views
from paimonlab.notebook.cell.history import history
from paimonlab.notebook.cell.parameters import bind, bind_names, markers, parameters, share
from paimonlab.notebook.display.characters import cut
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.running.execution import parse
from paimonlab.notebook.views.statements.drawing import draw_parameters, draw_statements
from paimonlab.secrets import HIDDEN, is_secret, without_secrets
from paimonlab.spec.sql_text.tokens import line_and_column

_VALUE_COLUMNS = 80
_ROW = re.compile(
    r"(?!(?:select|where|and|or|on|set|with|from|into|insert|update|delete|merge)\b)"
    r"[\w`]+(?:\.[\w`]+)?\s+[\w`]+\s*=.*",
    re.IGNORECASE,
)
"""A table and a condition: what finds a row."""


def statement_history(*, last: int = 20, is_failed: bool = False, pattern: str = "") -> views.View:
    """Show the newest statements that were run in this kernel.

    Parameters
    ----------
    last
        How many, at most.
    is_failed
        Only those that failed.
    pattern
        Only those with this text in the SQL.
    """
    listed = history().list(last=last, is_failed=is_failed, pattern=pattern)
    if is_deterministic():
        entries = [
            msgspec.structs.replace(entry, time_millis=None, duration_millis=None)
            for entry in listed.entries
        ]
        listed = msgspec.structs.replace(listed, entries=tuple(entries))
    about_row = pattern if _ROW.fullmatch(pattern) else ""
    return draw_statements(listed, about_row)


def explain_parameters(
    text: str,
    namespace: Mapping[str, Any],
    *,
    source: str = "args",
    in_order: Sequence[Any] | None = None,
    order_source: str = "args",
) -> views.View:
    """Show which value each ``:name`` or ``?`` of a cell gets, without running it.

    Parameters
    ----------
    text
        One or more statements.
    namespace
        The values of names.
    source
        Where they are from, in words.
    in_order
        The values of ``?``; None if there are none.
    order_source
        Where those are from.

    Raises
    ------
    QueryError
        If a parameter has no value, or one that Spark has no literal for.
    """
    entries: dict[str, views.ParameterEntry] = {}
    statements = parse(text)
    number = 0
    for statement, values in zip(statements, share(statements, namespace, in_order), strict=True):
        if not isinstance(values, Mapping):
            bound = bind(statement, values)
            for token, value, given in zip(markers(statement.tokens), bound, values, strict=True):
                number += 1
                place = _place(text, token.start)
                name = f"?{number}"
                entries[name] = _entry(name, value, given, order_source, place)
            continue
        named = bind_names(statement, values)
        for name, token in parameters(statement.tokens):
            place = _place(text, token.start - 1)
            if name in entries:
                old = entries[name]
                entries[name] = msgspec.structs.replace(old, uses=f"{old.uses}; {place}")
            else:
                entries[name] = _entry(name, named[name], namespace[name], source, place)
    return draw_parameters(views.Parameters(entries=tuple(entries.values())))


def _place(text: str, offset: int) -> str:
    line, column = line_and_column(text, offset)
    return f"line {line}, column {column + 1}"


def _entry(name: str, value: Any, given: Any, source: str, place: str) -> views.ParameterEntry:
    hides = is_secret(name) or is_secret(source)
    shown = HIDDEN if hides else cut(without_secrets(repr(given)), _VALUE_COLUMNS)
    return views.ParameterEntry(
        name=name, value=shown, type=_type(value), source=source, uses=place
    )


_TYPES = {
    "bool": "BOOLEAN",
    "int": "INT or BIGINT",
    "float": "DOUBLE",
    "str": "STRING",
    "Decimal": "DECIMAL",
    "bytes": "BINARY",
    "bytearray": "BINARY",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "time": "TIME",
    "timedelta": "INTERVAL DAY TO SECOND",
    "NoneType": "NULL",
}


def _type(value: Any) -> str:
    """Name the type of SQL that a value gets."""
    if isinstance(value, list):
        inner = {_type(item) for item in value if item is not None}
        return f"ARRAY of {' and '.join(sorted(inner)) or 'NULL'}"
    if isinstance(value, int) and not isinstance(value, bool):
        return "INT" if -(2**31) <= value < 2**31 else "BIGINT"
    return _TYPES.get(type(value).__name__, type(value).__name__)
