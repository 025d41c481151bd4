"""What could stand at the cursor in ``CALL sys.procedure(argument => value, …)``.

Pure, as `sql_completion` is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from paimonlab.notebook.completion.candidates import Candidate, starting
from paimonlab.procedures import PROCEDURES, Parameter, Procedure
from paimonlab.spec.options.registry import IMMUTABLE_KEYS, KNOWN_OPTIONS
from paimonlab.spec.sql_text.call_text import table_text
from paimonlab.spec.sql_text.strings import string_value
from paimonlab.spec.sql_text.tokens import Token, TokenKind
from paimonlab.spec.types.data_types import AtomicType, TypeRoot
from paimonlab.spec.types.text import format_type

_CHOICES: Mapping[str, Sequence[str]] = {
    "compact_strategy": ("full", "minor"),
    "order_strategy": ("zorder", "hilbert", "order", "none"),
    "expire_strategy": ("values-time", "update-time"),
}
_NEW_NAMES = frozenset({("create_tag", "tag"), ("create_tag_from_timestamp", "tag")}) | {
    ("create_branch", "branch")
}
"""Arguments that name what is not there yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNames:
    """What calls can name in a catalog."""

    catalog: str = ""
    """Its name in SQL; empty: it has none."""
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
        What stands at the cursor: a word, or the text of an open string.
    tokens
        Those of the statement before the word; the first is CALL.
    names
        The catalog.
    text
        The text of the open string that the cursor is in; None: it is in none.
    after
        The rest of the statement: the table may be named there.
    """
    opening = next((place for place, one in enumerate(tokens) if one.text == "("), None)
    if opening is None:
        return word, starting(word, _procedures(word, names)) if text is None else []
    procedure = PROCEDURES.get(tokens[opening - 1].text.strip("`").lower())
    if procedure is None or _is_over(tokens[opening:]):
        return word, []
    arguments = _arguments(tokens[opening + 1 :])
    here, given = arguments[-1], arguments[:-1]
    parameter = _parameter(procedure, here, len(given))
    if text is None and not here:
        return word, starting(word, _names(procedure, given))
    if parameter is None:
        return word, []
    at = _Place(procedure, parameter, _table(procedure, arguments, after))
    if text is not None:
        piece = text.rpartition(",")[2] if parameter.name in {"options", "order_by"} else text
        return piece, starting(piece, _texts(at, names))
    return word, starting(word, _values(at, names))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the cursor is."""

    procedure: Procedure
    parameter: Parameter
    table: str
    """That the call is about; "": it is not named yet."""


def _is_over(tokens: Sequence[Token]) -> bool:
    return any(one.kind is TokenKind.SYMBOL and one.text == ")" for one in tokens)


def _arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """Cut at commas; the last argument is the one at the cursor."""
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind is TokenKind.SYMBOL and token.text == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def _parameter(procedure: Procedure, argument: Sequence[Token], place: int) -> Parameter | None:
    """Return what an argument is for: by its name, else by its place."""
    known = {one.name.lower(): one for one in procedure.parameters}
    if [one.text for one in argument[1:]] == ["=", ">"]:
        return known.get(argument[0].text.strip("`").lower())
    if argument:
        return None  # something stands there already
    return procedure.parameters[place] if place < len(procedure.parameters) else None


def _table(procedure: Procedure, arguments: Sequence[Sequence[Token]], after: str) -> str:
    for place, argument in enumerate(arguments):
        value = argument[-1] if argument else None
        if value is None or value.kind is not TokenKind.STRING:
            continue
        found = _parameter(procedure, argument[:-1], place)
        if found is not None and found.name == "table":
            return (string_value(value.text) or "").replace("`", "")
    _, arrow, rest = after.partition("table =>")
    quoted = rest.strip().split("'")
    return quoted[1] if arrow and len(quoted) > 2 else ""


def _procedures(word: str, names: CallNames) -> Iterator[Candidate]:
    prefix = names.catalog + "." if names.catalog and word.startswith(names.catalog[:1]) else ""
    if word and prefix and names.catalog.startswith(word):
        yield Candidate(f"{prefix}sys.", "catalog")
    is_with_catalog = bool(prefix) and word.startswith(prefix)
    for name, one in PROCEDURES.items():
        yield Candidate(f"{prefix if is_with_catalog else ''}sys.{name}(", one.description)


def _names(procedure: Procedure, given: Sequence[Sequence[Token]]) -> Iterator[Candidate]:
    """Yield the arguments that are not given yet, required ones first."""
    is_named = [[one.text for one in argument[1:3]] == ["=", ">"] for argument in given]
    taken = {
        argument[0].text.strip("`").lower()
        for argument, named in zip(given, is_named, strict=True)
        if named
    }
    behind = procedure.parameters[is_named.count(False) :]
    for one in sorted(behind, key=lambda parameter: not parameter.is_required):
        if one.name.lower() not in taken:
            yield Candidate(
                f"{one.name} => ", f"{format_type(one.type).lower()}: {one.description}"
            )


def _values(at: _Place, names: CallNames) -> Iterator[Candidate]:
    """Yield what an argument can be, as it is written without a quote before."""
    kind = at.parameter.type
    if isinstance(kind, AtomicType) and kind.root is TypeRoot.BOOLEAN:
        yield from (Candidate("true", "boolean"), Candidate("false", "boolean"))
    elif at.parameter.name == "snapshot" and at.table:
        points = names.points(at.table).items()
        yield from (Candidate(point, about) for point, about in points if point.isdecimal())
    elif at.parameter.name not in {"options", "order_by", "partitions", "where"}:
        yield from (Candidate(f"'{one.text}'", one.about) for one in _texts(at, names))


def _texts(at: _Place, names: CallNames) -> Iterator[Candidate]:
    """Yield what the text of an argument can be, or go on with."""
    name = at.parameter.name
    if (at.procedure.name, name) in _NEW_NAMES:
        return
    found: Mapping[str, str] = {}
    match name:
        case "table":
            found = dict.fromkeys(map(table_text, names.tables()), "table")
        case "tag" if at.table:
            found = names.tags(at.table)
        case "version" if at.table:
            found = names.points(at.table)
        case "branch" if at.table:
            found = names.branches(at.table)
        case "order_by" if at.table:
            schema = names.columns(at.table)
            found = {field.name: str(field.type) for field in schema or ()}
        case "options":
            found = {f"{key}=": about for key, about in _options().items()}
        case _ if name in _CHOICES:
            found = dict.fromkeys(_CHOICES[name], "value")
    for text, about in found.items():
        yield Candidate(text.replace("'", "\\'"), about)


@cache
def _options() -> Mapping[str, str]:
    """Return the options that a table obeys, and what each is."""
    known = [one for key, one in KNOWN_OPTIONS.items() if "*" not in key]
    return {
        one.key: f"{one.kind}, default {one.default}" if one.default else one.kind
        for one in known
        if one.status == "implemented" and one.key not in IMMUTABLE_KEYS
    }
