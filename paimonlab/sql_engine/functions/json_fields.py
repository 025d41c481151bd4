"""``get_json_object``: one value of a JSON text, by a path that the statement has; ``to_json``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paimonlab.spec.types.data_types import RowType, with_nullable
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    expect,
    is_text,
    named,
)
from paimonlab.sql_engine.value import Value, quoted

_STEP = re.compile(r"\.([A-Za-z0-9_-]+)|\['([A-Za-z0-9_ .-]+)'\]|\[(\d{1,6})\]")
_REWRITTEN = r"\\|[0-9][.eE]|[0-9]{16}"
"""What a part of JSON may have that the two write in different ways."""


def _path(text: str) -> str:
    """Return a path in DuckDB's words."""
    if not text.startswith("$") or len(text) < 2:
        raise WrongUseError
    place, steps = 1, ["$"]
    while place < len(text):
        step = _STEP.match(text, place)
        if step is None:
            raise WrongUseError
        place = step.end()
        name = step[1] or step[2]
        steps.append(f"[{step[3]}]" if name is None else f'."{name}"')
    return "".join(steps)


def _get(values: Sequence[Value]) -> Value:
    expect(values, is_text, is_text)
    given = values[1].literal if values[1].is_literal else None
    if not isinstance(given, str):
        raise WrongUseError
    path, sql = quoted(_path(given)), values[0].text
    # DuckDB may evaluate what a condition before it rules out.
    json = f"(CASE WHEN json_valid({sql}) THEN {sql} END)"
    part = f"json_extract({json}, {path})"
    message = fails(f"{NOT_PROVEN}: get_json_object() of such a JSON")
    # Spark reads until it has found the value: what is no JSON as a whole may have it.
    text = (
        f"(CASE WHEN {sql} IS NULL OR NOT regexp_matches({sql}, '^[ \\n\\r\\t]*[\\[{{]') THEN NULL "
        f"WHEN NOT json_valid({sql}) THEN {message} "
        f"WHEN json_type({json}, {path}) IN ('VARCHAR', 'BOOLEAN', 'BIGINT', 'UBIGINT', 'NULL') "
        f"THEN json_extract_string({json}, {path}) "
        f"WHEN {part} IS NULL THEN NULL "
        f"WHEN regexp_matches(CAST({part} AS VARCHAR), '{_REWRITTEN}') "
        f"AND NOT regexp_matches(CAST({part} AS VARCHAR), '^-?[0-9]{{1,7}}[.][0-9]{{1,7}}$') "
        f"THEN {message} ELSE CAST({part} AS VARCHAR) END)"
    )
    return Value(text, kinds.STRING, named("get_json_object", values))


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_ .-]+")


def _written(values: Sequence[Value]) -> Value:
    """Write a struct of texts, whole numbers and truth values; fields that are NULL are left out.

    Both write texts with the same escapes; numbers with fractions are written in other ways.
    """
    if len(values) != 1 or not isinstance(values[0].kind, RowType):
        raise WrongUseError
    sql, parts = values[0].text, list[str]()
    for field in values[0].kind.fields:
        kind = with_nullable(field.type, nullable=True)
        is_plain = kinds.is_whole(kind) or kind in (kinds.STRING, kinds.BOOLEAN)
        if not is_plain or not _PLAIN_NAME.fullmatch(field.name):
            raise WrongUseError
        part = f"struct_extract({sql}, {quoted(field.name)})"
        head = quoted(f'"{field.name}":')
        # DuckDB writes NULL as the text null; concat_ws leaves out NULL.
        written = f"{head} || CAST(to_json({part}) AS VARCHAR)"
        parts.append(f"CASE WHEN {part} IS NOT NULL THEN {written} END")
    whole = f"'{{' || concat_ws(',', {', '.join(parts)}) || '}}'"
    text = f"(CASE WHEN {sql} IS NOT NULL THEN {whole} END)"
    return Value(text, kinds.STRING, named("to_json", values))


JSON_FIELDS: dict[str, Translate] = {"get_json_object": _get, "to_json": _written}
"""By name in small letters."""
