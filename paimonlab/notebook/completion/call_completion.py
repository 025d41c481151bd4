"""What can be typed at the cursor in ``CALL sys.procedure(argument => value, …)``.

Pure, as `sql_completion` is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
from msgspec import Struct

from paimonlab import procedures
from paimonlab.notebook.completion.candidates import Candidate, starting
from paimonlab.spec.options.registry import IMMUTABLE_KEYS, KNOWN_OPTIONS
from paimonlab.spec.sql_text.call_text import table_text
from paimonlab.spec.sql_text.strings import string_value
from paimonlab.spec.sql_text.tokens import Token, TokenKind
from paimonlab.spec.types.data_types import AtomicType, TypeRoot
from paimonlab.spec.types.text import format_type

if TYPE_CHECKING:
    from paimonlab.procedures import Parameter, Procedure

_CHOICES: Mapping[str, Sequence[str]] = {
    "compact_strategy": ("full", "minor"),
    "order_strategy": ("zorder", "hilbert", "order", "none"),
    "expire_strategy": ("values-time", "update-time"),
}
_NEW_NAMES = frozenset({("create_tag", "tag"), ("create_tag_from_timestamp", "tag")}) | {
    ("create_branch", "branch")
}
"""Arguments that name what does not exist yet."""


class CallNames(Struct, frozen=True, kw_only=True):
    """What calls can name in a catalog."""

    catalog: str = ""
    """Its name in SQL; empty if it has none."""
    tables: Callable[[], Sequence[str]] = tuple
    columns: Callable[[str], pa.Schema | None] = lambda _: None
    points: Callable[[str], Mapping[str, str]] = lambda _: {}
    """Snapshot ids and tags of a table, and what each is."""
    tags: Callable[[str], Mapping[str, str]] = lambda _: {}
    branches: Callable[[str], Mapping[str, str]] = lambda _: {}


def begins_call(tokens: Sequence[Token]) -> bool:
    """Tell whether tokens are those of a statement that calls a procedure."""
    return bool(tokens) and tokens[0].text.upper() == "CALL"


def call_candidates(
    word: str, tokens: Sequence[Token], names: CallNames, *, text: str | None, after: str = ""
) -> tuple[str, list[Candidate]]:
    """Return the word at the cursor and what it could become.

    Parameters
    ----------
    word
        What is at the cursor: a word, or the text of an open string.
    tokens
        Those of the statement before the word; the first is CALL.
    names
        The catalog.
    text
        The text of the open string that the cursor is in; None if it is in none.
    after
        The rest of the statement: the table may be named there.
    """
    opening = next((index for index, token in enumerate(tokens) if token.text == "("), None)
    if opening is None:
        return word, starting(word, _procedures(word, names)) if text is None else []
    procedure = procedures.PROCEDURES.get(tokens[opening - 1].text.strip("`").lower())
    if procedure is None or _is_over(tokens[opening:]):
        return word, []
    arguments = _arguments(tokens[opening + 1 :])
    current, given = arguments[-1], arguments[:-1]
    parameter = _parameter(procedure, current, len(given))
    if text is None and not current:
        return word, starting(word, _names(procedure, given))
    if parameter is None:
        return word, []
    cursor = _Place(procedure, parameter, _table(procedure, arguments, after))
    if text is not None:
        piece = text.rpartition(",")[2] if parameter.name in {"options", "order_by"} else text
        return piece, starting(piece, _texts(cursor, names))
    return word, starting(word, _values(cursor, names))


class _Place(Struct, frozen=True):
    """Where the cursor is."""

    procedure: Procedure
    parameter: Parameter
    table: str
    """The table of the call; "" if it is not named yet."""


def _is_over(tokens: Sequence[Token]) -> bool:
    return any(token.kind is TokenKind.SYMBOL and token.text == ")" for token in tokens)


def _arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split at commas; the last argument is the one at the cursor."""
    arguments: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind is TokenKind.SYMBOL and token.text == ",":
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments


def _parameter(procedure: Procedure, argument: Sequence[Token], index: int) -> Parameter | None:
    """Return what an argument is for: by its name, else by its position."""
    by_name = {parameter.name.lower(): parameter for parameter in procedure.parameters}
    if [token.text for token in argument[1:]] == ["=", ">"]:
        return by_name.get(argument[0].text.strip("`").lower())
    if argument:
        return None  # there is a value already
    return procedure.parameters[index] if index < len(procedure.parameters) else None


def _table(procedure: Procedure, arguments: Sequence[Sequence[Token]], after: str) -> str:
    for index, argument in enumerate(arguments):
        value = argument[-1] if argument else None
        if value is None or value.kind is not TokenKind.STRING:
            continue
        parameter = _parameter(procedure, argument[:-1], index)
        if parameter is not None and parameter.name == "table":
            return (string_value(value.text) or "").replace("`", "")
    _, arrow, rest = after.partition("table =>")
    quoted = rest.strip().split("'")
    return quoted[1] if arrow and len(quoted) > 2 else ""


def _procedures(word: str, names: CallNames) -> Iterator[Candidate]:
    prefix = names.catalog + "." if names.catalog and word.startswith(names.catalog[:1]) else ""
    if word and prefix and names.catalog.startswith(word):
        yield Candidate(f"{prefix}sys.", "catalog")
    is_with_catalog = bool(prefix) and word.startswith(prefix)
    for name, procedure in procedures.PROCEDURES.items():
        yield Candidate(f"{prefix if is_with_catalog else ''}sys.{name}(", procedure.description)


def _names(procedure: Procedure, given: Sequence[Sequence[Token]]) -> Iterator[Candidate]:
    """Yield the arguments that are not given yet, required ones first."""
    is_named = [[token.text for token in argument[1:3]] == ["=", ">"] for argument in given]
    taken = {
        argument[0].text.strip("`").lower()
        for argument, named in zip(given, is_named, strict=True)
        if named
    }
    remaining = procedure.parameters[is_named.count(False) :]
    for parameter in sorted(remaining, key=lambda parameter: not parameter.is_required):
        if parameter.name.lower() not in taken:
            yield Candidate(
                f"{parameter.name} => ",
                f"{format_type(parameter.type).lower()}: {parameter.description}",
            )


def _values(cursor: _Place, names: CallNames) -> Iterator[Candidate]:
    """Yield what an argument can be, as it is written outside quotes."""
    kind = cursor.parameter.type
    if isinstance(kind, AtomicType) and kind.root is TypeRoot.BOOLEAN:
        yield from (Candidate("true", "boolean"), Candidate("false", "boolean"))
    elif cursor.parameter.name == "snapshot" and cursor.table:
        points = names.points(cursor.table).items()
        yield from (Candidate(point, about) for point, about in points if point.isdecimal())
    elif cursor.parameter.name not in {"options", "order_by", "partitions", "where"}:
        yield from (
            Candidate(f"'{candidate.text}'", candidate.about) for candidate in _texts(cursor, names)
        )


def _texts(cursor: _Place, names: CallNames) -> Iterator[Candidate]:
    """Yield what the text of an argument can be, or continue with."""
    name = cursor.parameter.name
    if (cursor.procedure.name, name) in _NEW_NAMES:
        return
    texts: Mapping[str, str] = {}
    match name:
        case "table":
            texts = dict.fromkeys(map(table_text, names.tables()), "table")
        case "tag" if cursor.table:
            texts = names.tags(cursor.table)
        case "version" if cursor.table:
            texts = names.points(cursor.table)
        case "branch" if cursor.table:
            texts = names.branches(cursor.table)
        case "order_by" if cursor.table:
            schema = names.columns(cursor.table)
            texts = {field.name: str(field.type) for field in schema or ()}
        case "options":
            texts = {f"{key}=": about for key, about in _options().items()}
        case _ if name in _CHOICES:
            texts = dict.fromkeys(_CHOICES[name], "value")
    for text, about in texts.items():
        yield Candidate(text.replace("'", "\\'"), about)


@cache
def _options() -> Mapping[str, str]:
    """Return the options that a table obeys, and what each is."""
    options = [option for key, option in KNOWN_OPTIONS.items() if "*" not in key]
    return {
        option.key: f"{option.kind}, default {option.default}" if option.default else option.kind
        for option in options
        if option.status == "implemented" and option.key not in IMMUTABLE_KEYS
    }
