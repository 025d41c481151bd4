"""Debezium's events of MongoDB: documents as extended JSON in strings.

All columns are STRING; the key is ``_id``. An update whose document before is not told replaces the
document of its key; a delete takes ``_id`` from the Kafka key.

Source: Debezium's documentation of its MongoDB connector; MongoDB Extended JSON v2 (and v1 where
drivers write it); apache/paimon@1.3.1 ``DebeziumBsonRecordParser``, ``BsonValueConvertor``.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import msgspec
import numpy as np

from paimonlab.ingest.changes import Event
from paimonlab.ingest.formats.gathering import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Gathering,
    MessageError,
    RowsOf,
    gathered,
)
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.settings import FormatSettings
from paimonlab.spec.value_text import java_float_text

KEYS = ("_id",)


class _Source(msgspec.Struct, gc=False):
    db: str | None = None
    collection: str | None = None
    ts_ms: int | None = None


class _Envelope(msgspec.Struct, gc=False):
    op: str | None = None
    before: str | None = None
    after: str | None = None
    source: _Source | None = None


class _Value(_Envelope, gc=False):
    payload: _Envelope | None = None


class DebeziumBson:
    """Reads messages of one topic after the other."""

    def __init__(self, settings: FormatSettings) -> None:
        self._settings = settings
        self._decoder = msgspec.json.Decoder(_Value)
        self._known: dict[tuple[str, str], RowsOf] = {}
        self._messages: Messages

    def __call__(self, messages: Messages) -> Iterator[Event]:
        """Yield the rows and events of messages."""
        self._messages = messages
        return gathered(messages, self._decoder.decode, self._add, "a change event of MongoDB")

    def _add(self, found: Gathering, value: _Value, place: int) -> None:
        event: _Envelope = value if value.payload is None else value.payload
        source = event.source
        if event.op is None and source is None:
            return  # a tombstone with schema
        if source is None or source.db is None or source.collection is None:
            raise MessageError("a change event without 'source.db' and 'source.collection'")
        where = (source.db, source.collection)
        of = self._known.get(where)
        if of is None:
            columns = self._settings.read_columns
            of = RowsOf(table=".".join(where), columns=columns, keys=KEYS)
            self._known[where] = of
        millis = -1 if source.ts_ms is None else source.ts_ms
        if event.op in ("c", "r", "u"):
            if event.after is None:
                raise MessageError(
                    f"'op' {event.op!r} without 'after': let the connector look documents up "
                    "(capture.mode = change_streams_update_full)",
                    of.table,
                )
            if event.op == "u" and event.before is not None:
                found.add(of, UPDATE_BEFORE, self._row(event.before, of), place, millis)
            kind = UPDATE_AFTER if event.op == "u" else INSERT
            found.add(of, kind, self._row(event.after, of), place, millis)
        elif event.op == "d":
            row = self._key(place) if event.before is None else self._row(event.before, of)
            if row is None:
                raise MessageError(
                    "a delete without 'before' and without 'id' in its key", of.table
                )
            found.add(of, DELETE, row, place, millis)
        else:
            raise MessageError(f"'op' is {event.op!r}, which is unknown", of.table)

    def _row(self, document: str, of: RowsOf) -> bytes:
        try:
            return document_row(document)
        except ValueError as error:
            raise MessageError(f"a document that is no extended JSON: {error}", of.table) from error

    def _key(self, place: int) -> bytes | None:
        key = self._messages.keys[place]
        if key is None:
            return None
        try:
            members = msgspec.json.decode(key, type=dict[str, Any])
            members = members.get("payload", members)
            return document_row(f'{{"_id":{members["id"]}}}')
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
            return None


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
    return msgspec.json.encode({name: _text(plain(value)) for name, value in members.items()})


def _text(value: Any) -> str | None:
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case _Number():
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
        case _Number():
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


class _Number:
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
        return _Number(str(int(text)))

    return convert


def _double_of(value: dict[str, Any]) -> float:
    return float(str(value["$numberDouble"]))


def _decimal(value: dict[str, Any]) -> Any:
    text = str(value["$numberDecimal"])
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return float(text)
    return _Number(text)


def _date(value: dict[str, Any]) -> Any:
    moment = value["$date"]
    if isinstance(moment, str):
        found = datetime.fromisoformat(moment)
        return _Number(str(round(found.timestamp() * 1000)))
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
