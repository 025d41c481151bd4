"""Topics in JSON formats, of rows that change and get columns at random; a dict is the model."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import paimonlab as pm
from tests.ingest.attacked_job import kafka_job, kill_some
from tests.ingest.kafka.broker import Broker
from tests.repetitions import times

Row: TypeAlias = dict[str, Any]
FORMATS = ("debezium-json", "canal-json", "maxwell-json", "ogg-json", "aws-dms-json")
_PARTITIONS = 3
_KEYS = 40
_VALUES = (None, "", "a", "é\n\"'\\", "\U0001f600", "null", "0", "{}", "x" * 300)


class Shop:
    """A table that writes its changes to a topic."""

    def __init__(self, form: str, draw: random.Random) -> None:
        self.rows: dict[int, Row] = {}
        self.columns = ["id", "v"]
        self._form = form
        self._draw = draw

    def change(self) -> Sequence[tuple[int, bytes | None]]:
        """Make one change; returns its messages, each with its key."""
        draw = self._draw
        key = draw.randrange(_KEYS)
        old = self.rows.get(key)
        if draw.random() < 0.02:
            self.columns.append(f"c{len(self.columns)}")
        if old is not None:  # rows have columns that were added since, too
            old = {name: old.get(name) for name in self.columns}
        if old is not None and draw.random() < 0.3:
            del self.rows[key]
            found: list[tuple[int, bytes | None]] = [(key, self._message(old, None))]
            if self._form == "debezium-json" and draw.random() < 0.5:
                found.append((key, None))
            return found
        new = {name: key if name == "id" else draw.choice(_VALUES) for name in self.columns}
        self.rows[key] = new
        return [(key, self._message(old, new))]

    def _message(self, old: Row | None, new: Row | None) -> bytes:
        kind = "insert" if old is None else "delete" if new is None else "update"
        told = _ENVELOPES[self._form](kind, old, new)
        separators = self._draw.choice(((",", ":"), (", ", ": ")))
        is_ascii = self._draw.random() < 0.5
        return json.dumps(told, separators=separators, ensure_ascii=is_ascii).encode()


def _debezium(kind: str, old: Row | None, new: Row | None) -> Mapping[str, Any]:
    op = {"insert": "c", "update": "u", "delete": "d"}[kind]
    return {"before": old, "after": new, "source": {"db": "d", "table": "t"}, "op": op}


def _changed(old: Row | None, new: Row | None) -> Row:
    assert old is not None
    assert new is not None
    return {name: old.get(name) for name in new if old.get(name) != new[name]}


def _canal(kind: str, old: Row | None, new: Row | None) -> Mapping[str, Any]:
    told = [_changed(old, new)] if kind == "update" else None
    row = new if new is not None else old
    return {
        "data": [_texts(row)],
        "database": "d",
        "table": "t",
        "isDdl": False,
        "ts": 1,
        "old": told and [*map(_texts, told)],
        "type": kind.upper(),
        "pkNames": ["id"],
    }


def _texts(row: Row | None) -> Row:
    assert row is not None
    return {name: None if value is None else str(value) for name, value in row.items()}


def _maxwell(kind: str, old: Row | None, new: Row | None) -> Mapping[str, Any]:
    more = {"old": _changed(old, new)} if kind == "update" else {}
    row = new if new is not None else old
    return {"database": "d", "table": "t", "type": kind, "ts": 1, "data": row, **more}


def _ogg(kind: str, old: Row | None, new: Row | None) -> Mapping[str, Any]:
    images = {"before": old, "after": new}
    told = {name: row for name, row in images.items() if row is not None}
    return {"table": "D.T", "op_type": kind[0].upper(), "primary_keys": ["id"], **told}


def _dms(kind: str, old: Row | None, new: Row | None) -> Mapping[str, Any]:
    row = dict(new if new is not None else old or {})
    if kind == "update":
        row |= {f"BI_{name}": value for name, value in (old or {}).items()}
    told = {"record-type": "data", "operation": kind, "schema-name": "d", "table-name": "t"}
    return {"data": row, "metadata": told}


_ENVELOPES = {
    "debezium-json": _debezium,
    "canal-json": _canal,
    "maxwell-json": _maxwell,
    "ogg-json": _ogg,
    "aws-dms-json": _dms,
}


def test_tables_are_the_model(tmp_path: Path, kafka_broker: Broker, topic: str, seed: int) -> None:
    form, draw = FORMATS[seed % len(FORMATS)], random.Random(seed)
    kafka_broker.create(topic, _PARTITIONS)
    shop = Shop(form, draw)
    said = [f"seed {seed}, {form}"]
    for _ in range(times(3)):
        parts: dict[int, list[tuple[int, bytes | None]]] = {}
        for _ in range(draw.randint(20, 200)):
            for key, value in shop.change():
                parts.setdefault(key % _PARTITIONS, []).append((key, value))
        for partition, found in parts.items():
            keys = [b'{"id":%d}' % key for key, _ in found]
            kafka_broker.produce(
                topic, [value for _, value in found], keys=keys, partition=partition
            )
        said += kill_some(draw, "kafka", tmp_path, kafka_broker.address, topic, form)
        kafka_job(tmp_path, kafka_broker.address, topic, form).run()
        (name,) = pm.connect(tmp_path).tables("ods")
        rows = pm.connect(tmp_path).table(f"ods.{name}").scan().to_arrow().to_pylist()
        wanted = [
            {column: row.get(column) for column in rows[0]} if rows else row
            for _, row in sorted(shop.rows.items())
        ]
        assert sorted(rows, key=lambda row: row["id"]) == wanted, said
