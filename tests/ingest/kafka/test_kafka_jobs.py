"""Topics of Kafka become tables, exactly once, also when the job is killed.

``PAIMONLAB_KAFKA_KILLS=100`` kills as often; a few are part of every run.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from click.testing import CliRunner

import paimonlab as pm
from paimonlab.cli.main import main
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.ingest.changes import RowChanges
from paimonlab.ingest.formats import FormatSettings, decoder_of
from paimonlab.ingest.formats.messages import messages_of
from paimonlab.ingest.job import Job
from paimonlab.ingest.job_health import measured
from paimonlab.ingest.sources import kafka_reader
from paimonlab.spec.schema.schema_changes import UpdateColumnType
from paimonlab.spec.types.text import parse_type
from tests.ingest import altered_tables, lost, much_meanwhile
from tests.ingest.altered_tables import Mode
from tests.ingest.kafka.broker import Broker
from tests.ingest.kafka.typed_messages import typed
from tests.ingest.run_and_kill import run_and_kill
from tests.ingest.scripted import ScriptedSource

KILLS = int(os.environ.get("PAIMONLAB_KAFKA_KILLS", "2"))
PARTITIONS = 2
_SCHEMA = {
    "type": "struct",
    "fields": [
        {
            "field": side,
            "type": "struct",
            "optional": True,
            "fields": [
                {"field": "id", "type": "int32", "optional": False},
                {"field": "v", "type": "string", "optional": True},
                {"field": "n", "type": "int64", "optional": True},
            ],
        }
        for side in ("before", "after")
    ],
}
Row: TypeAlias = dict[str, Any]


class Shop:
    """A table of a database that writes its changes to a topic, keyed by primary key."""

    def __init__(
        self, broker: Broker, topic: str, rng: np.random.Generator, *, schema: bool
    ) -> None:
        self.rows: dict[int, Row] = {}
        self._broker = broker
        self._topic = topic
        self._rng = rng
        self._has_schema = schema

    def change(self, count: int) -> None:
        """Make changes, and wait until the topic has them."""
        messages: list[list[tuple[bytes, bytes | None]]] = [[] for _ in range(PARTITIONS)]
        for number in range(count):
            key = int(self._rng.integers(500))
            old = self.rows.get(key)
            if old is not None and self._rng.random() < 0.3:
                self._add(messages, key, "d", old, None)
                messages[key % PARTITIONS].append((b'{"id":%d}' % key, None))
                del self.rows[key]
                continue
            new = {"id": key, "v": None if number % 7 == 0 else f"v{number}", "n": number}
            self._add(messages, key, "c" if old is None else "u", old, new)
            self.rows[key] = new
        for partition, found in enumerate(messages):
            keys, values = [key for key, _ in found], [value for _, value in found]
            self._broker.produce(self._topic, values, keys=keys, partition=partition)

    def _add(
        self,
        messages: list[list[tuple[bytes, bytes | None]]],
        key: int,
        op: str,
        old: Row | None,
        new: Row | None,
    ) -> None:
        payload = {
            "before": old,
            "after": new,
            "source": {"db": "shop", "table": "keyed", "ts_ms": 1},
            "op": op,
        }
        event = {"schema": _SCHEMA, "payload": payload} if self._has_schema else payload
        text = json.dumps(event, separators=(",", ":")).encode()
        messages[key % PARTITIONS].append((b'{"id":%d}' % key, text))


def _command(warehouse: Path, broker: Broker, topic: str, kind: str) -> list[str]:
    module = "tests.ingest.kafka.killed_kafka_job"
    return [sys.executable, "-m", module, str(warehouse), broker.address, topic, kind]


def _rows(table: pm.Table) -> list[Row]:
    rows: list[Row] = table.scan().to_arrow().to_pylist()
    return sorted(rows, key=lambda row: int(next(iter(row.values()))))


def test_a_killed_job_loses_and_doubles_nothing(
    tmp_path: Path, kafka_broker: Broker, topic: str, rng: np.random.Generator
) -> None:
    kafka_broker.create(topic, PARTITIONS)
    log = f"log_{topic}"
    kafka_broker.create(log, PARTITIONS)
    shop = Shop(kafka_broker, topic, rng, schema=True)
    written, kills = 0, 0
    while kills < KILLS:
        shop.change(1500)
        lines = [b'{"no":%d,"what":"x"}' % number for number in range(written, written + 1500)]
        kafka_broker.produce(log, lines, partition=kills % PARTITIONS)
        written += len(lines)
        for name, kind in ((topic, "keyed"), (log, "log")):
            command = _command(tmp_path, kafka_broker, name, kind)
            kills += not run_and_kill(command, float(rng.uniform(0.0, 1.0)))
    for name, kind in ((topic, "keyed"), (log, "log")):
        assert run_and_kill(_command(tmp_path, kafka_broker, name, kind), None)

    catalog = pm.connect(tmp_path)
    assert _rows(catalog.table("ods.keyed")) == [shop.rows[key] for key in sorted(shop.rows)]
    found = catalog.table(f"ods.{log}").scan().to_arrow()["no"].to_pylist()
    assert sorted(found) == list(range(written))


def test_many_rows_are_those_of_the_recorded_log(
    tmp_path: Path, kafka_broker: Broker, topic: str, rng: np.random.Generator
) -> None:
    """Four tables in one topic; keys change, so a row is deleted and another one comes."""
    each = much_meanwhile.ROWS // len(much_meanwhile.TABLES)
    kafka_broker.create(topic, PARTITIONS)
    wanted = {}
    for name in much_meanwhile.TABLES:
        rows, messages = _recorded(name, each, rng)
        wanted[name] = rows
        for partition, values in enumerate(messages):
            kafka_broker.produce(topic, values, partition=partition)
    catalog = pm.connect(tmp_path)
    columns = {"id": "BIGINT", "n": "BIGINT", "v": "STRING"}
    source = pm.kafka(kafka_broker.address).topic(topic, format="debezium-json", columns=columns)
    job = catalog.ingest(
        source, into="ods", name="j", primary_keys=["id"], options={"bucket": 2}, interval="1 s"
    )
    job.run()
    for name, rows in wanted.items():
        found = catalog.table(f"ods.{name}").scan().to_arrow().select(["id", "n", "v"])
        told = sorted(zip(*(column.to_pylist() for column in found.columns), strict=True))
        assert told == sorted(rows.values()), name
    assert not {"failed", "stalled"} & {event.kind for event in job.events}


def _recorded(
    table: str, count: int, rng: np.random.Generator
) -> tuple[dict[int, tuple[Any, ...]], list[list[bytes]]]:
    """Return rows, and messages by partition that make them: inserts, then a fifth is changed."""
    rows = {key: (key, 0, f"row {key * 7919 % 99991}") for key in range(count)}
    messages: list[list[bytes]] = [[] for _ in range(PARTITIONS)]

    def add(op: str, old: tuple[Any, ...] | None, new: tuple[Any, ...] | None) -> None:
        names = ("id", "n", "v")
        before, after = (
            None if row is None else dict(zip(names, row, strict=True)) for row in (old, new)
        )
        event = {"before": before, "after": after, "op": op, "source": {"db": "d", "table": table}}
        key = (old if new is None else new)[0]  # type: ignore[index]  # one of both is there
        messages[key % PARTITIONS].append(json.dumps(event, separators=(",", ":")).encode())

    for row in rows.values():
        add("r", None, row)
    for number, draw in enumerate(rng.random(count // 5).tolist()):
        key = int(rng.integers(count))
        old = rows.get(key)
        if draw < 0.2 or old is None:
            new = (count + number, number, "added")
            add("c", None, new)
        elif draw < 0.4:
            del rows[key]
            add("d", old, None)
            continue
        elif draw < 0.41:
            del rows[key]
            new = (-key - PARTITIONS * count, number, "moved")
            add("d", old, None)
            add("c", None, new)
        else:
            new = (key, number, "new")
            add("u", old, new)
        rows[new[0]] = new
    return rows, messages


def test_columns_without_types_are_texts_and_follow_the_messages(
    tmp_path: Path, kafka_broker: Broker, topic: str, rng: np.random.Generator
) -> None:
    kafka_broker.create(topic, PARTITIONS)
    shop = Shop(kafka_broker, topic, rng, schema=False)
    shop.change(300)
    catalog = pm.connect(tmp_path)
    source = pm.kafka(kafka_broker.address).topic(topic, format="debezium-json")
    job = catalog.ingest(source, into="ods", name="texts", options={"bucket": 1})
    job.run()
    more = (
        b'{"before":null,"after":{"id":9999,"v":null,"n":1,"new":{"a": [1.50]}},'
        b'"source":{"db":"shop","table":"keyed"},"op":"c"}'
    )
    kafka_broker.produce(topic, [more], keys=[b'{"id":9999}'])
    job.run()

    table = catalog.table("ods.keyed")
    texts = {
        str(row["id"]): {name: None if value is None else str(value) for name, value in row.items()}
        for row in shop.rows.values()
    }
    texts = {key: row | {"new": None} for key, row in texts.items()}
    texts["9999"] = {"id": "9999", "v": None, "n": "1", "new": '{"a":[1.50]}'}
    assert table.primary_keys == ("id",)
    assert {row["id"]: row for row in _rows(table)} == texts


def test_partitions_and_shards_that_are_behind_drop_no_column(
    tmp_path: Path, kafka_broker: Broker, topic: str
) -> None:
    """Of two shards one gets a column a thousand rows earlier than the other."""
    kafka_broker.create(topic, 2)
    catalog = pm.connect(tmp_path)
    modes: tuple[Mode, ...] = "exact", "strict"
    wanted: list[Row] = []

    def send(partition: int, shard: str, *rows: Row) -> None:
        kafka_broker.produce(topic, [typed(shard, row) for row in rows], partition=partition)
        wanted.extend({"id": row["id"], "a": row["a"], "b": row.get("b")} for row in rows)

    def check() -> None:
        wanted.sort(key=lambda row: row["id"])
        for mode in modes:
            source = pm.kafka(kafka_broker.address).topic(topic, format="debezium-json")
            told: dict[str, Any] = {"primary_keys": ["id"], "options": {"bucket": 1}}
            job = catalog.ingest(source, into=mode, name=mode, evolve=mode, **told)
            job.run()
            assert [one.stopped for one in job.status.tables] == [None], mode
            found = _rows(catalog.table(f"{mode}.t"))
            assert [{"b": None} | row for row in sorted(found, key=lambda row: row["id"])] == wanted

    old, new = {"a": 1}, {"a": 1, "b": "b"}
    send(0, "one", {"id": 1} | old)
    check()
    send(0, "one", {"id": 2} | new)
    check()
    send(1, "one", {"id": 3} | old)
    check()
    send(0, "one", *({"id": number} | new for number in range(4, 1004)))
    send(1, "two", *({"id": -number} | old for number in range(1, 1001)), {"id": -2000} | new)
    check()


def test_a_column_that_cannot_be_read_stops_only_its_table(
    tmp_path: Path, kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its messages are the first ones, or come later, in a table that is there or in a new one."""
    kafka_broker.create(topic)
    catalog = pm.connect(tmp_path)

    def send(*rows: tuple[str, int, str]) -> None:
        messages = [
            {
                "data": [{"id": str(id), "v": str(id)}],
                "database": "d",
                "table": table,
                "type": "INSERT",
                "pkNames": ["id"],
                "mysqlType": {"id": "int", "v": kind},
            }
            for table, id, kind in rows
        ]
        kafka_broker.produce(topic, [json.dumps(message).encode() for message in messages])

    def job(**more: Any) -> Job:
        source = pm.kafka(kafka_broker.address).topic(topic, format="canal-json")
        return catalog.ingest(source, into="ods", name="j", options={"bucket": 1}, **more)

    def stopped(job: Job) -> dict[str, str]:
        return {one.name: one.stopped for one in job.status.tables if one.stopped is not None}

    send(("a", 1, "int"), ("first", 1, "vector(2)"), ("b", 1, "int"))
    one = job()
    assert [refused.target for refused in one.plan().refused] == ["ods.first"]
    one.run()
    send(("b", 2, "vector(2)"), ("new", 1, "vector(2)"), ("a", 2, "int"))
    one.run()
    told = stopped(one)
    assert sorted(told) == ["ods.b", "ods.first", "ods.new"]
    assert all("MySQL type VECTOR of column 'v'" in reason for reason in told.values())

    # Later messages are not all of those tables, also where no message before is looked at.
    monkeypatch.setattr(kafka_reader, "_SAMPLED", 1)
    monkeypatch.setattr(kafka_reader, "_FIRST_MESSAGES", 1)
    send(*((table, 3, "int") for table in ("a", "b", "first", "new")))
    two = job()
    two.run()
    assert stopped(two) == told
    assert sorted(row["id"] for row in _rows(catalog.table("ods.a"))) == [1, 2, 3]
    assert [row["id"] for row in _rows(catalog.table("ods.b"))] == [1]
    assert catalog.tables("ods") == ["a", "b"]
    job(excluding="d.(first|new)").run()
    found = measured(catalog, "j")
    assert found is not None
    assert [*found.stopped] == ["ods.b"]


@pytest.mark.parametrize("partitions", [1, 2])
def test_a_table_that_stopped_is_read_anew_from_all_messages(
    tmp_path: Path, kafka_broker: Broker, topic: str, rng: np.random.Generator, partitions: int
) -> None:
    """Of two tables in a topic; one has texts where numbers were, and one has no key."""
    kafka_broker.create(topic, partitions)
    rows: dict[int, Row] = {}
    logged: list[int] = []

    def change(kind: str) -> None:
        found: list[list[bytes]] = [[] for _ in range(partitions)]

        def add(table: str, key: int, old: Row | None, new: Row | None) -> None:
            kinds = {"id": "int64", "v": kind} if table == "a" else {"id": "int64"}
            fields = [{"field": name, "type": one} for name, one in kinds.items()]
            sides = [{"field": side, "type": "struct", "fields": fields} for side in _SIDES]
            payload = {
                "before": old,
                "after": new,
                "op": "d" if new is None else "u" if old else "c",
                "source": {"db": "d", "table": table},
            }
            message = {"schema": {"type": "struct", "fields": sides}, "payload": payload}
            found[key % partitions].append(json.dumps(message).encode())

        for number in range(120):
            key = int(rng.integers(60))
            old = rows.pop(key, None)
            new = None
            if old is None or rng.random() < 0.7:
                new = {"id": key, "v": number if kind == "int64" else f"t{number}"}
                rows[key] = new
            add("a", key, old, new)
            logged.append(len(logged))
            add("log", logged[-1], None, {"id": logged[-1]})
        for number, values in enumerate(found):
            kafka_broker.produce(topic, values, partition=number)

    def check() -> None:
        found = {row["id"]: row["v"] for row in _rows(catalog.table("ods.a"))}
        assert found == {key: str(row["v"]) for key, row in rows.items()}
        assert [row["id"] for row in _rows(catalog.table("ods.log"))] == logged

    catalog = pm.connect(tmp_path)

    def job(**more: Any) -> Job:
        source = pm.kafka(kafka_broker.address).topic(topic, format="debezium-json", **more)
        keys = {"a": ["id"], "log": []}
        return catalog.ingest(source, into="ods", name="j", primary_keys=keys, max_bytes=5_000)

    change("int64")
    job().run()
    change("string")
    one = job()
    one.run()
    assert [table.name for table in one.status.tables if table.stopped] == ["ods.a"]

    catalog.alter_table("ods.a", UpdateColumnType("v", parse_type("STRING")))
    two = job(columns={"v": "STRING"})
    two.resnapshot("ods.a")
    two.run()
    assert not [table.name for table in two.status.tables if table.stopped]
    check()
    change("string")
    two.run()
    check()
    late = pm.kafka(kafka_broker.address).topic(topic, format="debezium-json", start="latest")
    with pytest.raises(UnsupportedError, match="did not note the offsets"):
        late.before_rows({topic: {"0": 9}}, ["d.a"])


@pytest.mark.parametrize("start", ["latest", "group"])
def test_a_table_is_read_anew_from_where_the_job_began(
    tmp_path: Path, kafka_broker: Broker, topic: str, start: str
) -> None:
    """Messages from before were never read, and are not then."""
    kafka_broker.create(topic)

    def produce(*numbers: int) -> None:
        kafka_broker.produce(topic, [b'{"id":%d}' % number for number in numbers])

    def ids() -> list[int]:
        return sorted(row["id"] for row in _rows(catalog.table(f"ods.{topic}")))

    produce(1, 2)
    cluster = pm.kafka(kafka_broker.address, group=topic)
    columns = {"id": "BIGINT"}
    if start == "group":
        before = cluster.topic(topic, format="json", columns=columns)
        before.acknowledge({topic: {"0": 1}})
    source = cluster.topic(topic, format="json", columns=columns, start=start)
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(source, into="ods", name="j", max_bytes=5_000)
    job.run()
    produce(3, 4)
    job.run()
    wanted = [3, 4] if start == "latest" else [2, 3, 4]
    assert ids() == wanted
    catalog.table(f"ods.{topic}").truncate()
    job.resnapshot(f"ods.{topic}")
    produce(5)
    job.run()
    assert ids() == [*wanted, 5]
    produce(6)
    job.run()
    assert ids() == [*wanted, 5, 6]


_SIDES = ("before", "after")
_KINDS = {"smallint": "int16", "int": "int32", "bigint": "int64", "varchar(9)": "string"}


def test_each_change_in_each_mode(tmp_path: Path) -> None:
    """Of messages with schemas, in their order; no broker is needed for it."""
    catalog = pm.connect(tmp_path)
    decode = decoder_of("debezium-json", FormatSettings())
    numbers = altered_tables.without_lengths()
    events = [
        event
        for number in numbers
        for message in _messages(number)
        for event in decode(messages_of([message], topic="t"))
        if isinstance(event, RowChanges)
    ]
    first = {event.table: event.schema for event in reversed(events)}
    script = [one for event in events for one in (event, "|")]
    jobs = {
        mode: catalog.ingest(
            ScriptedSource(script, first),
            into=mode,
            name=mode,
            evolve=mode,
            primary_keys=["id"],
            options={"bucket": 1},
        )
        for mode in altered_tables.MODES
    }
    for job in jobs.values():
        job.run()
    assert len(numbers) > 6
    altered_tables.compare(catalog, jobs, numbers)


def _messages(number: int) -> Iterator[bytes]:
    """Yield messages of rows of a case, as Debezium writes them while a table is altered."""
    (_, rest), *steps = altered_tables.steps_of(number)
    kind, _, value = rest.partition(" = ")
    kinds = {"id": "int32", "a": _KINDS[kind]}
    key = 1
    yield typed("d", {"id": key, "a": int(value)}, f"k{number}", kinds)
    for verb, rest in steps:
        match re.split(r",? +", rest):
            case _ if verb == "row":
                key += 1
                values = [key, *json.loads(f"[{rest.replace(chr(39), chr(34))}]")]
                yield typed("d", dict(zip(kinds, values, strict=True)), f"k{number}", kinds)
            case ["ADD", "COLUMN", name, kind]:
                kinds[name] = _KINDS[kind]
            case ["DROP", "COLUMN", name]:
                del kinds[name]
            case ["RENAME", "COLUMN", name, "TO", other]:
                kinds[other] = kinds.pop(name)
            case ["retype", name, kind]:
                kinds[name] = _KINDS[kind]
            case _:
                raise AssertionError(rest)


def test_what_is_lost_while_a_job_rests_is_told(
    tmp_path: Path, kafka_broker: Broker, topic: str
) -> None:
    from confluent_kafka import TopicPartition  # noqa: PLC0415 - an extra

    kafka_broker.create(topic)
    kafka_broker.produce(topic, [typed("one", {"id": 1, "a": 1})] * 4)
    asked = TopicPartition(topic, 0, 7)

    def job(name: str) -> Job:
        source = pm.kafka(kafka_broker.address).topic(topic, format="debezium-json")
        return pm.connect(tmp_path).ingest(source, into=name, name=name, options={"bucket": -1})

    def retire() -> None:
        kafka_broker.produce(topic, [typed("one", {"id": 1, "a": 1})] * 4)
        kafka_broker.admin.delete_records([asked])[asked].result(30)

    def delete() -> None:
        kafka_broker.admin.delete_topics([topic])[topic].result(30)

    lost.check(job("offsets"), retire, "offsets 4 to 6 were deleted", "retention")
    lost.check(job("topic"), delete, "there is no topic", topic)


def test_broken_messages_are_dead_letters(tmp_path: Path, kafka_broker: Broker, topic: str) -> None:
    kafka_broker.create(topic)
    kafka_broker.produce(topic, [b'{"id":1}', b"oops", b'{"id":2}'])
    catalog = pm.connect(tmp_path)
    cluster = pm.kafka(kafka_broker.address)

    with pytest.raises(PaimonError, match="not JSON"):
        catalog.ingest(cluster.topic(topic, format="json"), into="ods", name="strict").run()
    words = ["ingest", str(tmp_path), "kafka", kafka_broker.address, "--topic", topic]
    words += ["--message-format", "json", "--into", "ods", "--name", "lax", "--max-dead", "1"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output

    assert _rows(catalog.table(f"ods.{topic}")) == [{"id": "1"}, {"id": "2"}]
    (dead,) = catalog.table("ods.lax__dead").scan().to_arrow().to_pylist()
    assert "offset" in str(dead)
    assert b"oops" in dead.values()
