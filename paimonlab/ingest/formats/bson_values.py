"""Values of MongoDB as texts of columns: from extended JSON, and how each kind is written.

Source: MongoDB Extended JSON v2 (and v1 where drivers write it); apache/paimon@1.3.1
``BsonValueConvertor``.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np

from paimonlab.spec.value_text import java_float_text

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def document_row(document: str) -> bytes:
    r"""Return a document as a JSON object of texts and nulls.

    Raises
    ------
    ValueError
        If it is no object of extended JSON.

    Examples
    --------
    >>> document_row('{"_id": {"$oid": "67ab"}, "n": {"$numberLong": "1"}, "tags": ["a", 2]}')
    b'{"_id":"67ab","n":"1","tags":"[\\"a\\",2]"}'
    """
    members = msgspec.json.decode(document, type=dict[str, Any])
    return msgspec.json.encode({name: cell_text(plain(value)) for name, value in members.items()})


def cell_text(value: Any) -> str | None:
    """Return what `plain` makes of a value as the text of a column: nested values as JSON."""
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case WrittenNumber():
            return value.text
        case float():
            return _double(value)
        case int():
            return str(value)
        case _:
            return _json(value)


def _json(value: Any) -> str:
    match value:
        case dict():
            return (
                "{" + ",".join(f"{_json(key)}:{_json(item)}" for key, item in value.items()) + "}"
            )
        case list():
            return "[" + ",".join(map(_json, value)) + "]"
        case WrittenNumber():
            return value.text
        case float() if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124
            return f'"{_double(value)}"'
        case float():
            return _double(value)
        case _:
            return msgspec.json.encode(value).decode()


def _double(value: float) -> str:
    if value != value:  # noqa: PLR0124 - NaN
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return java_float_text(np.float64(value))


class WrittenNumber:
    """A number as it is written."""

    def __init__(self, text: str) -> None:
        self.text = text


def plain(value: Any) -> Any:
    """Take extended JSON apart: what `BsonValueConvertor` makes of a value.

    Raises
    ------
    ValueError
        If a value is damaged.
    """
    match value:
        case list():
            return [plain(item) for item in value]
        case dict():
            convert = next((_EXTENDED[name] for name in value if name in _EXTENDED), None)
            try:
                found = _PLAIN if convert is None else convert(value)
            except (KeyError, TypeError, AttributeError) as error:
                raise ValueError(f"a damaged value {value}") from error
            if found is _PLAIN:
                return {name: plain(item) for name, item in value.items()}
            return found
        case _:
            return value


_PLAIN = object()
"""The value is a document after all."""


def _number(name: str) -> Callable[[dict[str, Any]], Any]:
    def convert(value: dict[str, Any]) -> Any:
        text = str(value[name])
        return WrittenNumber(str(int(text)))

    return convert


def _double_of(value: dict[str, Any]) -> float:
    return float(str(value["$numberDouble"]))


def _decimal(value: dict[str, Any]) -> Any:
    text = str(value["$numberDecimal"])
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return float(text)
    return WrittenNumber(text)


def _date(value: dict[str, Any]) -> Any:
    moment = value["$date"]
    if isinstance(moment, str):
        found = datetime.fromisoformat(moment)
        if found.tzinfo is None:
            found = found.replace(tzinfo=UTC)
        return WrittenNumber(str((found - _EPOCH) // timedelta(milliseconds=1)))
    return plain(moment)


def _binary(value: dict[str, Any]) -> Any:
    inner = value["$binary"]
    if isinstance(inner, dict):
        data, kind = inner["base64"], str(inner["subType"])
    else:
        data, kind = inner, str(value.get("$type", "00"))
    if int(kind, 16) in (3, 4):
        return str(uuid.UUID(bytes=base64.b64decode(data, validate=True)))
    return data


def _regex(value: dict[str, Any]) -> str:
    inner = value.get("$regularExpression") or {
        "pattern": value["$regex"],
        "options": value.get("$options", ""),
    }
    pattern = inner["pattern"].replace("/", "\\/") or "(?:)"
    return f"/{pattern}/{inner['options']}"


def _code(value: dict[str, Any]) -> Any:
    if "$scope" in value:
        return {"$code": value["$code"], "$scope": plain(value["$scope"])}
    return value["$code"]


_EXTENDED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "$oid": lambda value: value["$oid"],
    "$numberInt": _number("$numberInt"),
    "$numberLong": _number("$numberLong"),
    "$numberDouble": _double_of,
    "$numberDecimal": _decimal,
    "$date": _date,
    "$timestamp": lambda value: value["$timestamp"]["t"],
    "$binary": _binary,
    "$uuid": lambda value: value["$uuid"],
    "$regularExpression": _regex,
    "$regex": _regex,
    "$symbol": lambda value: value["$symbol"],
    "$code": _code,
    "$minKey": lambda _: "BsonMinKey",
    "$maxKey": lambda _: "BsonMaxKey",
    "$undefined": lambda _: None,
}
