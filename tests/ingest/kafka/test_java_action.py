"""What Paimon's own action makes of messages of Kafka is what ours makes, with the same arguments.

It takes a JVM with Flink, so it is part of ``make interop`` alone. What is otherwise on purpose
(docs/ingest-kafka.md) is in no message here, or named by `_is_known`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paimonlab as pm
from tests.ingest.formats.schema_registry import schema_registry
from tests.ingest.java.action import running
from tests.ingest.java.comparing import differences, have_row, rows_of, wait
from tests.ingest.kafka.broker import Broker
from tests.ingest.kafka.logged_changes import (
    FORMATS,
    Change,
    DebeziumAvro,
    Kind,
    Message,
    altered,
)
from tests.ingest.run_and_kill import run_and_kill
from tests.interop.java_build import JavaMissingError, JavaTools

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(
        os.environ.get("PAIMONLAB_INTEROP") != "require", reason="part of make interop"
    ),
]
LAST = 999_999
KILLS = int(os.environ.get("PAIMONLAB_INGEST_KILLS", "3"))
"""Attempts to kill ours while it reads what is there, and while it follows."""
TABLES = ("typed", "moving", "churned")
_TYPED = ("debezium-json", "debezium-avro", "canal-json", "aliyun-json")
"""Formats whose messages say types."""
ID = Kind("int(11)", "int32")
TEXT = Kind("varchar(10)", "string")
NUMBER = Kind("int(11)", "int32")
_TIME = "io.debezium.time"
_DECIMAL = "org.apache.kafka.connect.data.Decimal"
TYPES: dict[str, tuple[Kind, tuple[Any, ...], tuple[Any, ...] | None]] = {
    "tiny": (Kind("tinyint(4)", "int16"), (-128, 127), None),
    "tiny_u": (Kind("tinyint(3) unsigned", "int16"), (0, 255), None),
    "small": (Kind("smallint(6)", "int16"), (-32768, 32767), None),
    "small_u": (Kind("smallint(5) unsigned", "int32"), (0, 65535), None),
    "medium": (Kind("mediumint(9)", "int32"), (-8388608, 8388607), None),
    "int_u": (Kind("int(10) unsigned", "int64"), (0, 4294967295), None),
    "big": (Kind("bigint(20)", "int64"), (-(2**63), 2**63 - 1), None),
    "big_u": (
        Kind("bigint(20) unsigned", "bytes", _DECIMAL, {"scale": "0"}),
        (0, 2**64 - 1),
        None,
    ),
    "yes": (Kind("tinyint(1)", "boolean"), (0, 1), (False, True)),
    "single": (Kind("float", "float"), (-1.5, 3.25), None),
    "double": (Kind("double", "double"), (-1e300, 1e-300), None),
    "decimal": (
        Kind(
            "decimal(10,3)",
            "bytes",
            _DECIMAL,
            {"scale": "3", "connect.decimal.precision": "10"},
        ),
        ("-1234567.891", "0.001"),
        (-1234567.891, 0.001),
    ),
    "day": (
        Kind("date", "int32", f"{_TIME}.Date"),
        ("1970-01-01", "9999-12-31"),
        (0, 2932896),
    ),
    "moment": (
        Kind("datetime(3)", "int64", f"{_TIME}.Timestamp"),
        ("1970-01-01 00:00:00.001", "2038-01-19 03:14:07.999"),
        (1, 2147483647999),
    ),
    "micros": (
        Kind("datetime(6)", "int64", f"{_TIME}.MicroTimestamp"),
        ("1970-01-01 00:00:00.000001", "2024-02-29 23:59:59.999999"),
        (1, 1709251199999999),
    ),
    "year": (Kind("year(4)", "int32", f"{_TIME}.Year"), (1901, 2155), None),
    "char": (Kind("char(5)", "string"), ("", "añb"), None),
    "varchar": (Kind("varchar(20)", "string"), ("😀 x", " blank "), None),
    "text": (Kind("longtext", "string"), ("t" * 70_000, ""), None),
    "enum": (
        Kind("enum('a','b')", "string", "io.debezium.data.Enum", {"allowed": "a,b"}),
        (1, 2),
        ("a", "b"),
    ),
    "json": (
        Kind("json", "string", "io.debezium.data.Json"),
        ('{"a":[1,{"b":null}]}', "[]"),
        None,
    ),
    "bytes": (Kind("varbinary(9)", "bytes"), ("abc", ""), ("YWJj", "")),
}
"""By column: its kind, two values as Canal writes them, and as Debezium does; None: the same."""


@pytest.fixture(scope="module")
def tools() -> JavaTools:
    try:
        return JavaTools.find()
    except JavaMissingError as missing:
        pytest.fail(f"live tests are required: {missing}", pytrace=False)


class _Log:
    """Tables whose changes are messages of a topic."""

    def __init__(
        self, broker: Broker, topic: str, format: str, write: Callable[[Change], Sequence[Message]]
    ) -> None:
        self.rows: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in TABLES}
        self._kinds: dict[str, dict[str, Kind]] = {}
        self._waiting: list[Message] = []
        self._broker, self._topic, self._format, self._write = broker, topic, format, write

    @property
    def is_debezium(self) -> bool:
        """Whether values are those that Debezium writes of MySQL."""
        return self._format in ("debezium-json", "debezium-avro")

    @property
    def types(self) -> dict[str, Kind]:
        """The columns of the first table; theirs reads no bytes and no times of Avro."""
        kinds = {name: kind for name, (kind, _, _) in TYPES.items()}
        if self._format != "debezium-avro":
            return kinds
        left_out = ("decimal", "big_u", "bytes", "day", "moment", "micros")
        return {name: kind for name, kind in kinds.items() if name not in left_out}

    def has_texts(self, column: str) -> bool:
        """Whether values of a column are written as Debezium does, and not as Canal."""
        return self.is_debezium or (column, self._format) == ("enum", "aliyun-json")

    def alter(self, table: str, **kinds: Kind) -> None:
        """Give a table these columns, beside ``id``."""
        self._kinds[table] = {"id": ID, **kinds}
        if self._format == "canal-json":
            self._waiting.append(altered("shop", table, f"ALTER TABLE {table} …"))

    def put(self, table: str, key: int, **values: Any) -> None:
        """Insert a row or update the row of its key; columns that are not given are null."""
        new = {name: values.get(name) for name in self._kinds[table]} | {"id": key}
        self._changed(table, self.rows[table].get(key), new)
        self.rows[table][key] = new

    def delete(self, table: str, key: int) -> None:
        """Delete the row of a key."""
        self._changed(table, self.rows[table].pop(key), None)

    def move(self, table: str, old: int, new: int) -> None:
        """Give a row another key."""
        row = self.rows[table].pop(old)
        if self._format.startswith("debezium"):
            self._changed(table, row, None)
            self._changed(table, None, row | {"id": new})
        else:
            self._changed(table, row, row | {"id": new})
        self.rows[table][new] = row | {"id": new}

    def _changed(self, table: str, old: Any, new: Any) -> None:
        kinds = self._kinds[table]
        before = None if old is None else {name: old.get(name) for name in kinds}
        after = None if new is None else {name: new.get(name) for name in kinds}
        self._waiting += self._write(Change("shop", table, kinds, before, after))

    def flush(self) -> None:
        """Write the messages, and wait until the topic has them."""
        keys, values = [key for key, _ in self._waiting], [value for _, value in self._waiting]
        self._waiting.clear()
        self._broker.produce(self._topic, values, keys=keys)


def _begin(log: _Log) -> None:
    log.alter("typed", **log.types)
    log.alter("moving", v=TEXT, n=NUMBER, gone=NUMBER)
    log.alter("churned", v=TEXT)
    _typed(log, 0)
    for key, text in enumerate("abc", 1):
        log.put("moving", key, v=text, n=key, gone=key)
    log.put("churned", 3, v="first")
    log.flush()


def _typed(log: _Log, first: int) -> None:
    for number in range(2):
        values = {
            name: (as_debezium if log.has_texts(name) and as_debezium else as_canal)[number]
            for name, (_, as_canal, as_debezium) in TYPES.items()
            if name in log.types
        }
        log.put("typed", first + number, **values)
    log.put("typed", first + 2)


def _churn(log: _Log, rng: np.random.Generator, count: int) -> None:
    for number, key in enumerate(rng.integers(1000, 1040, count).tolist()):
        if key in log.rows["churned"] and rng.random() < 0.3:
            log.delete("churned", key)
        else:
            log.put("churned", key, v=f"v{number}")
    log.flush()


def _change(log: _Log) -> None:
    _typed(log, 100)
    log.delete("typed", 1)
    log.move("typed", 0, 7)
    log.put("moving", 1, v="z", n=1, gone=1)
    log.move("moving", 2, 22)
    log.delete("moving", 3)
    log.alter("moving", v=TEXT, n=NUMBER, gone=NUMBER, m=TEXT)
    log.put("moving", 4, v="d", n=4, gone=4, m="new")
    wide = Kind("varchar(40)", "string")
    log.alter("moving", v=wide, n=NUMBER, gone=NUMBER, m=TEXT)
    log.put("moving", 5, v="more than ten letters", n=5, gone=5)
    big = Kind("bigint(20)", "int64")
    log.alter("moving", v=wide, n=big, gone=NUMBER, m=TEXT)
    log.put("moving", 6, v="f", n=5_000_000_000, gone=6)
    log.alter("moving", v=wide, n=big, m=TEXT)
    log.put("moving", 8, v="g", n=8, m="x")
    log.alter("moving", v=wide, n=big, m=TEXT, gone=NUMBER)
    log.put("moving", 9, v="h", n=9, m="y", gone=99)
    log.alter("moving", v=wide, n=big, named=TEXT, gone=NUMBER)
    log.put("moving", 10, v="i", n=10, named="renamed", gone=1)
    for name in TABLES:
        log.put(name, LAST)
    log.flush()


def _arguments(
    warehouse: Path,
    broker: Broker,
    topic: str,
    format: str,
    registry: str | None,
) -> Iterator[tuple[str, str]]:
    yield "warehouse", str(warehouse)
    yield "database", "ods"
    yield "primary_keys", "_id" if format == "debezium-bson" else "id"
    if registry is not None:
        yield "kafka_conf", f"schema.registry.url={registry}"
    for setting in (
        f"properties.bootstrap.servers={broker.address}",
        f"topic={topic}",
        f"value.format={format}",
        "scan.startup.mode=earliest-offset",
    ):
        yield "kafka_conf", setting
    yield "table_conf", "bucket=1"


@pytest.fixture(params=[*FORMATS, "debezium-avro"])
def said(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any, str | None]]:
    """Return a format, what writes it, and the registry of its schemas."""
    if request.param in FORMATS:
        yield request.param, FORMATS[request.param], None
        return
    write = DebeziumAvro()
    with schema_registry(write.schemas) as registry:
        yield request.param, write, registry


def test_an_action_and_ours_make_the_same_tables(
    tmp_path: Path,
    kafka_broker: Broker,
    topic: str,
    tools: JavaTools,
    rng: np.random.Generator,
    said: tuple[str, Any, str | None],
) -> None:
    """Ours is killed while it reads; its tables are still those of an action that was not."""
    kafka_broker.create(topic)
    format, write, registry = said
    source = _Log(kafka_broker, topic, format, write)
    _begin(source)
    theirs, ours, log = tmp_path / "theirs", tmp_path / "ours", tmp_path / "log"
    told: dict[str, list[str]] = {"until": ["caught-up"]}
    for name, value in _arguments(ours, kafka_broker, topic, format, registry):
        told.setdefault(name, []).append(value)
    command = [sys.executable, "-m", "tests.ingest.java.killed_action_job"]
    command += ["kafka_sync_database", json.dumps(told)]
    kills = sum(not run_and_kill(command, float(rng.uniform(0, 0.5))) for _ in range(KILLS))
    assert run_and_kill(command, None)
    words = [
        text
        for name, value in _arguments(theirs, kafka_broker, topic, format, registry)
        for text in (f"--{name}", value)
    ]
    with running(tools, log, "kafka_sync_database", *words) as process:
        wait(lambda: have_row(theirs, ["churned"], 3), process, log)
        for _ in range(KILLS):
            _churn(source, rng, 400)
            kills += not run_and_kill(command, float(rng.uniform(0, 0.5)))
        assert kills
        _change(source)
        assert run_and_kill(command, None)
        wait(lambda: have_row(theirs, TABLES, LAST), process, log)
    different = differences(theirs, ours, TABLES)
    assert not [pair for pair in different.values() if not _is_known(format, *pair)]
    churned: Mapping[int, Any] = source.rows["churned"]
    found = rows_of(pm.connect(ours).table("ods.churned"))
    assert [_texts(row) for row in found] == [_texts(churned[key]) for key in sorted(churned)]


def _is_known(format: str, theirs: Any, ours: Any) -> bool:
    """Tell whether texts differ on purpose, of formats without types."""
    if format == "debezium-avro":
        return (theirs, ours) == ("INT", "SMALLINT")  # of Avro's int that says it is an int16
    if format in _TYPED:
        return False
    if ours is None:
        return bool(theirs == "null")
    return "e" in ours and float(theirs) == float(ours)  # numbers are as they are written


def _texts(row: Mapping[str, Any]) -> Mapping[str, str | None]:
    return {
        name: None if value is None else str(value) for name, value in row.items() if name != "_id"
    }


def test_rows_in_plain_json_are_the_same(
    tmp_path: Path, kafka_broker: Broker, topic: str, tools: JavaTools
) -> None:
    """Each message is a row; `kafka_sync_database` has no name for their table."""
    kafka_broker.create(topic)

    def write(first: int, **more: Any) -> None:
        rows = [{"id": first + one, "n": one, "v": f"ä{one}", **more} for one in range(3)]
        kafka_broker.produce(topic, [json.dumps(row).encode() for row in rows])

    write(0)
    theirs, ours, log = tmp_path / "theirs", tmp_path / "ours", tmp_path / "log"
    told: dict[str, list[str]] = {"until": ["caught-up"], "table": ["t"]}
    for name, value in _arguments(ours, kafka_broker, topic, "json", None):
        told.setdefault(name, []).append(value)
    command = [sys.executable, "-m", "tests.ingest.java.killed_action_job"]
    command += ["kafka_sync_table", json.dumps(told)]
    words = [
        text
        for name, value in _arguments(theirs, kafka_broker, topic, "json", None)
        for text in (f"--{name}", value)
    ]
    assert run_and_kill(command, None)
    with running(tools, log, "kafka_sync_table", "--table", "t", *words) as process:
        wait(lambda: have_row(theirs, ["t"], 2), process, log)
        write(1, more=[1, {"a": "b"}])
        assert run_and_kill(command, None)
        wait(lambda: have_row(theirs, ["t"], 3), process, log)
    assert not differences(theirs, ours, ["t"])
    assert [row["n"] for row in rows_of(pm.connect(ours).table("ods.t"))] == ["0", "0", "1", "2"]
