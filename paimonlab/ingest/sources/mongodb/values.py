"""Documents as texts by column, and ``_id`` as the text of a key.

Values are written as `paimonlab.ingest.formats.bson_values` writes those of extended JSON.
"""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import bson
from bson import (
    Binary,
    Code,
    DatetimeMS,
    DBRef,
    Decimal128,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
)
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.json_util import JSONMode, JSONOptions, dumps, loads

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.formats.bson_values import WrittenNumber, cell_text

Document: TypeAlias = Mapping[str, Any]
Row: TypeAlias = dict[str, str | None]

ID = "_id"
IDS = ("text", "extended")
CODEC: CodecOptions[dict[str, Any]] = CodecOptions(
    document_class=dict, datetime_conversion=DatetimeConversion.DATETIME_MS
)
"""How documents are decoded: moments that Python's datetime cannot hold are moments, too."""

_CANONICAL = JSONOptions(
    json_mode=JSONMode.CANONICAL, datetime_conversion=DatetimeConversion.DATETIME_MS
)
_FLAGS = {
    "i": re.IGNORECASE,
    "l": re.LOCALE,
    "m": re.MULTILINE,
    "s": re.DOTALL,
    "u": re.UNICODE,
    "x": re.VERBOSE,
}
_UUIDS = (3, 4)
_PATH = re.compile(r"""\.(?P<name>[^.\[\]'"*()?@,:\s]+)|\[(?P<at>\d+)\]|\['(?P<quoted>[^'*]+)'\]""")


def row_of(document: Document) -> Row:
    """Return each member of a document as the text of a column.

    Examples
    --------
    >>> row_of({"_id": ObjectId("67ab" * 6), "n": 1.5, "tags": ["a", 2], "none": None})
    {'_id': '67ab67ab67ab67ab67ab67ab', 'n': '1.5', 'tags': '["a",2]', 'none': None}
    """
    return {name: cell_text(plain_value(value)) for name, value in document.items()}


def plain_value(value: Any) -> Any:
    """Return what a column shows of a value, as `paimonlab.ingest.formats.bson_values.plain`.

    Raises
    ------
    ValueError
        If its kind is unknown.
    """
    convert = _PLAIN.get(type(value))
    if convert is None:
        raise ValueError(f"a value of {type(value).__name__}, which is unknown")
    return convert(value)


def _same(value: Any) -> Any:
    return value


def _code(value: Code) -> Any:
    if value.scope is None:
        return str(value)
    return {"$code": str(value), "$scope": plain_value(value.scope)}


def _decimal(value: Decimal128) -> Any:
    text = str(value)
    return float(text) if text.lstrip("-") in ("NaN", "Infinity") else WrittenNumber(text)


def _binary(value: Binary) -> str:
    if value.subtype in _UUIDS:
        return str(uuid.UUID(bytes=bytes(value)))
    return _bytes(value)


def _bytes(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _regex(value: Regex[str]) -> str:
    options = "".join(letter for letter, flag in _FLAGS.items() if value.flags & flag)
    pattern = str(value.pattern).replace("/", "\\/") or "(?:)"
    return f"/{pattern}/{options}"


def _document(value: Document) -> dict[str, Any]:
    return {name: plain_value(item) for name, item in value.items()}


_PLAIN: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((type(None), bool, int, float, str), _same),
    Int64: int,
    Code: _code,
    dict: _document,
    list: lambda value: [plain_value(item) for item in value],
    ObjectId: str,
    DatetimeMS: lambda value: WrittenNumber(str(int(value))),
    Decimal128: _decimal,
    Timestamp: lambda value: value.time,
    Binary: _binary,
    bytes: _bytes,
    Regex: _regex,
    DBRef: lambda value: _document(value.as_doc()),
    MinKey: lambda _: "BsonMinKey",
    MaxKey: lambda _: "BsonMaxKey",
}


def decoded(raw: bytes) -> dict[str, Any]:
    """Return a document of BSON."""
    return bson.decode(raw, CODEC)


def kind_of_id(value: Any) -> str:
    """Return of which kind an ``_id`` is: those of one kind have texts that differ."""
    match value:
        case bool():
            return "bool"
        case int() | float() | Decimal128():
            return "number"
        case Binary():
            return f"binary {value.subtype}"
        case bytes():
            return "binary 0"
        case Mapping():
            return "document"
        case _:
            return type(value).__name__.lower()


def id_text(value: Any, ids: str = "text") -> str:
    """Return an ``_id`` as the text of a key.

    Parameters
    ----------
    value
        The ``_id``.
    ids
        ``text``: those of one kind (see `kind_of_id`) have texts that differ. ``extended``: all
        have; what is no text is extended JSON, and so is a text that could be taken for it.

    Examples
    --------
    >>> [id_text(value) for value in (ObjectId("67ab" * 6), 1, "1")]
    ['67ab67ab67ab67ab67ab67ab', '1', '1']
    >>> [id_text(value, "extended") for value in (ObjectId("67ab" * 6), 1, "1", "true")]
    ['{"$oid":"67ab67ab67ab67ab67ab67ab"}', '{"$numberInt":"1"}', '1', '"true"']
    """
    is_text = isinstance(value, str) and not isinstance(value, Code)
    if ids == "text":
        simple = (ObjectId, bool, int, float, Decimal128, DatetimeMS, bytes)
        found = cell_text(plain_value(value)) if is_text or isinstance(value, simple) else None
        return extended(value) if found is None else found
    if is_text and not value.startswith(('"', "{")) and value not in ("true", "false", "null"):
        return str(value)
    return extended(value)


def extended(value: Any) -> str:
    """Return a value as canonical extended JSON without blanks."""
    return dumps(value, json_options=_CANONICAL, separators=(",", ":"))


def from_extended(text: str) -> Any:
    """Return the value of canonical extended JSON."""
    return loads(text, json_options=_CANONICAL)


def path_of(text: str) -> Callable[[Document], Any]:
    """Read the path of one value: ``$.a.b``, ``$.a[0]``, ``$['a b']``.

    Raises
    ------
    UnsupportedError
        If it may find several values, or computes something.

    Examples
    --------
    >>> path_of("$.a[1]['b c']")({"a": [{}, {"b c": 7}]})
    7
    """
    steps: list[str | int] = []
    place = 1
    while text[:1] == "$" and (match := _PATH.match(text, place)) is not None:
        name = match["name"] if match["name"] is not None else match["quoted"]
        steps.append(int(match["at"]) if name is None else name)
        place = match.end()
    if not steps or place != len(text):
        raise UnsupportedError(
            f"the path {text!r}", "give one value: '$.a.b', '$.a[0]' or \"$['a b']\""
        )

    def value(document: Document) -> Any:
        found: Any = document
        for step in steps:
            if isinstance(step, int):
                is_there = isinstance(found, list) and step < len(found)
            else:
                is_there = isinstance(found, Mapping) and step in found
            if not is_there:
                return None
            found = found[step]
        return found

    return value
