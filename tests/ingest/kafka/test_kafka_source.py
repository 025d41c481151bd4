"""The source against a real broker: what is read, from where, and what is lost."""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paimonlab as pm
from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest import Job
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    Unreadable,
    Waits,
)
from paimonlab.ingest.source_contract import check_source
from paimonlab.ingest.sources import kafka_reader as module
from paimonlab.ingest.sources.kafka import KafkaSource, kafka
from tests.certificates import certificates
from tests.ingest.kafka.broker import Broker
from tests.ingest.kafka.typed_messages import typed
from tests.waiting import until

TRANSACTIONS = int(os.environ.get("PAIMONLAB_INGEST_KAFKA_TRANSACTIONS", "6"))
"""Of about 650 messages each."""


def _row(number: int, table: str = "t") -> bytes:
    return b'{"before":null,"after":{"id":%d},"source":{"db":"d","table":"%b"},"op":"c"}' % (
        number,
        table.encode(),
    )


def _rows(count: int, first: int = 0) -> list[bytes]:
    return [_row(number) for number in range(first, first + count)]


def _source(broker: Broker, topic: str, **more: Any) -> KafkaSource:
    return kafka(broker.address).topic(topic, format="debezium-json", **more)


def _until(events: Iterator[Event], enough: Callable[[Boundary], bool]) -> list[Event]:
    """Read up to the first boundary that is enough; at most half a minute."""
    found: list[Event] = []
    end = time.monotonic() + 30
    with closing(events):  # type: ignore[type-var]
        for event in events:
            found.append(event)
            if isinstance(event, Boundary) and enough(event):
                return found
            assert time.monotonic() < end, found[-3:]
    raise AssertionError("the source ended")


def _caught_up(source: KafkaSource, position: JsonValue = None) -> tuple[list[int], JsonValue]:
    """Return the ids of all rows there are, and the position after them."""
    events = _until(
        source.read(position, lambda _: True), lambda found: found.phase is Phase.CAUGHT_UP
    )
    last = events[-1]
    assert isinstance(last, Boundary)
    return _ids(events), last.position


def _offsets(position: JsonValue) -> JsonValue:
    """Return a position without what it says of topics."""
    assert isinstance(position, dict)
    return {topic: offsets for topic, offsets in position.items() if topic != "ids:"}


def _ids(events: list[Event]) -> list[int]:
    changes = [event for event in events if isinstance(event, RowChanges)]
    return [int(number) for batch in changes for number in batch.rows["id"].to_pylist()]


def test_all_is_read_once_and_goes_on_from_a_position(kafka_broker: Broker, topic: str) -> None:
    kafka_broker.create(topic, 2)
    kafka_broker.produce(topic, _rows(500))
    kafka_broker.produce(topic, _rows(300, 500), partition=1)
    source = _source(kafka_broker, topic)

    first, position = _caught_up(source)
    kafka_broker.produce(topic, _rows(2, 800), partition=1)
    second, later = _caught_up(source, position)

    assert sorted(first) == list(range(800))
    assert _offsets(position) == {topic: {"0": 500, "1": 300}}
    assert second == [800, 801]
    assert _offsets(later) == {topic: {"0": 500, "1": 302}}


def test_it_keeps_what_sources_promise(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.05)
    kafka_broker.create(topic)
    kafka_broker.produce(topic, [_row(1), _row(2), _row(3)])
    cluster = kafka(kafka_broker.address, options={"fetch.wait.max.ms": "5"})

    check_source(
        lambda: cluster.topic(topic, format="debezium-json"),
        add=lambda: kafka_broker.produce(topic, [_row(4)]),
    )


class _NewPartitions:
    """A consumer to which the partitions of a topic are unknown for a moment, as after creation."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._consumer, name)

    def get_watermark_offsets(self, *given: Any, **told: Any) -> Any:
        from confluent_kafka import KafkaError, KafkaException  # noqa: PLC0415 - an extra

        self._asked += not told.get("cached", False)
        if self._asked % 3 and not told.get("cached", False):
            raise KafkaException(KafkaError(KafkaError._UNKNOWN_PARTITION))
        return self._consumer.get_watermark_offsets(*given, **told)


def test_partitions_that_are_new_are_waited_for(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.01)
    kafka_broker.create(topic, 2)
    kafka_broker.produce(topic, _rows(5))
    source = _source(kafka_broker, topic)
    made = source._reader

    def reader() -> module.Reader:
        found = made()
        found.consumer = _NewPartitions(found.consumer)
        return found

    monkeypatch.setattr(source, "_reader", reader)
    assert [*source.tables()] == ["d.t"]
    found, position = _caught_up(source)
    assert (found, _offsets(position)) == ([0, 1, 2, 3, 4], {topic: {"0": 5, "1": 0}})


def test_rows_know_where_they_were(kafka_broker: Broker, topic: str) -> None:
    kafka_broker.create(topic)
    kafka_broker.produce(topic, [_row(1), b"oops", _row(3)], timestamp=1_700_000_000_123)

    events = _until(
        _source(kafka_broker, topic).read(None, lambda _: True),
        lambda found: found.phase is Phase.CAUGHT_UP,
    )

    (changes,) = [event for event in events if isinstance(event, RowChanges)]
    (broken,) = [event for event in events if isinstance(event, Unreadable)]
    assert changes.positions is not None
    assert broken.positions is not None
    assert changes.positions.to_pylist() == [
        {"topic": topic, "partition": 0, "offset": 0},
        {"topic": topic, "partition": 0, "offset": 2},
    ]
    assert changes.metadata["timestamp"].to_pylist()[0] == datetime(
        2023, 11, 14, 22, 13, 20, 123_000, UTC
    )
    assert broken.positions.to_pylist() == [{"topic": topic, "partition": 0, "offset": 1}]
    assert broken.raw.to_pylist() == [b"oops"]


def test_each_partition_stays_in_order(
    kafka_broker: Broker, topic: str, rng: np.random.Generator
) -> None:
    kafka_broker.create(topic, 3)
    wanted: dict[int, list[int]] = {0: [], 1: [], 2: []}
    number = 0
    for _ in range(30):
        partition = int(rng.integers(3))
        count = int(rng.integers(1, 200))
        kafka_broker.produce(topic, _rows(count, number), partition=partition)
        wanted[partition].extend(range(number, number + count))
        number += count

    events = _until(
        _source(kafka_broker, topic).read(None, lambda _: True),
        lambda found: found.phase is Phase.CAUGHT_UP,
    )

    found: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for event in events:
        if isinstance(event, RowChanges):
            numbers = event.metadata["partition"].to_pylist()
            for partition, row in zip(numbers, event.rows["id"].to_pylist(), strict=True):
                found[partition].append(int(row))
    assert found == wanted


def test_only_committed_messages_are_read(kafka_broker: Broker, topic: str) -> None:
    from confluent_kafka import Producer  # noqa: PLC0415 - an extra

    kafka_broker.create(topic)
    producer = Producer(
        {"bootstrap.servers": kafka_broker.address, "transactional.id": f"of {topic}"}
    )
    producer.init_transactions(60)
    for numbers, commits in ((range(3), True), (range(3, 6), False), (range(6, 8), True)):
        producer.begin_transaction()
        for number in numbers:
            producer.produce(topic, _row(number))
        if commits:
            producer.commit_transaction(30)
        else:
            producer.flush(30)
            producer.abort_transaction(30)

    found, position = _caught_up(_source(kafka_broker, topic))

    assert found == [0, 1, 2, 6, 7]
    assert _offsets(position) == {topic: {"0": 11}}  # eight messages and three markers
    assert _caught_up(_source(kafka_broker, topic), position) == ([], position)


def test_random_transactions_of_a_topic_that_grows(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Some are aborted, partitions are added while it reads."""
    from confluent_kafka import Producer  # noqa: PLC0415 - an extra
    from confluent_kafka.admin import NewPartitions  # noqa: PLC0415 - an extra

    monkeypatch.setattr(module, "_DISCOVERY_SECONDS", 0.2)
    kafka_broker.create(topic)
    told = {"transactional.id": f"of {topic}", "queue.buffering.max.messages": 10**6}
    producer = Producer({"bootstrap.servers": kafka_broker.address, "linger.ms": 2, **told})
    producer.init_transactions(60)
    wanted: list[int] = []
    reader = _source(kafka_broker, topic).read(None, lambda _: True)
    found: list[int] = []
    with closing(reader):  # type: ignore[type-var]
        number, partitions = 0, 1
        for _ in range(TRANSACTIONS):
            if partitions < 4 and rng.random() < 8 / TRANSACTIONS:
                partitions += 1
                grown = kafka_broker.admin.create_partitions([NewPartitions(topic, partitions)])
                grown[topic].result(30)
                until(lambda: len(_partitions(producer, topic)) == partitions)  # noqa: B023 - at once
            numbers = range(number, number + int(rng.integers(1, 1300)))
            number = numbers.stop
            producer.begin_transaction()
            for one in numbers:
                producer.produce(topic, _row(one), partition=one % partitions)
            producer.flush(30)
            if rng.random() < 0.35:
                producer.abort_transaction(30)
            else:
                producer.commit_transaction(30)
                wanted += numbers
            found += _ids([*islice(reader, int(rng.integers(4)))])
        end = time.monotonic() + 60
        while len(found) < len(wanted):
            assert time.monotonic() < end, f"{len(wanted) - len(found)} are lacking"
            found += _ids([next(reader)])
        for _ in range(9):
            found += _ids([next(reader)])
    assert sorted(found) == wanted


def _partitions(producer: Any, topic: str) -> Sequence[int]:
    return [*producer.list_topics(topic, 9).topics[topic].partitions]


def test_new_partitions_are_read_from_their_beginning(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from confluent_kafka.admin import NewPartitions  # noqa: PLC0415 - an extra

    monkeypatch.setattr(module, "_DISCOVERY_SECONDS", 0.2)
    kafka_broker.create(topic)
    kafka_broker.produce(topic, _rows(2))
    source = _source(kafka_broker, topic, start="latest")
    events = source.read(None, lambda _: True)
    assert isinstance(next(events), Boundary)

    kafka_broker.admin.create_partitions([NewPartitions(topic, 2)])[topic].result(30)
    kafka_broker.produce(topic, _rows(3, 2), partition=1)
    position = {topic: {"0": 2, "1": 3}, "from:": {topic: {"0": 2}}}
    found = _until(events, lambda boundary: _offsets(boundary.position) == position)

    assert _ids(found) == [2, 3, 4]


def test_topics_that_match_are_found_later(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_DISCOVERY_SECONDS", 0.2)
    kafka_broker.create(f"{topic}_a")
    kafka_broker.create(f"other_{topic}")
    kafka_broker.produce(f"{topic}_a", [_row(1, "a")])
    kafka_broker.produce(f"other_{topic}", [_row(9, "other")])
    source = kafka(kafka_broker.address).topics(f"{topic}_.*", format="debezium-json")
    events = source.read(None, lambda table: table != "d.unwanted")
    first = next(events)

    kafka_broker.create(f"{topic}_b")
    kafka_broker.produce(f"{topic}_b", [_row(2, "b"), _row(3, "unwanted")])
    found = [
        first,
        *_until(
            events,
            lambda boundary: (
                _offsets(boundary.position) == {f"{topic}_a": {"0": 1}, f"{topic}_b": {"0": 2}}
            ),
        ),
    ]

    assert sorted(_ids(found)) == [1, 2]


def test_tables_are_what_messages_say(kafka_broker: Broker, topic: str) -> None:
    kafka_broker.create(topic)
    kafka_broker.produce(
        topic, [_row(1, "a"), _row(2, "b"), b'{"op":"c"}'], keys=[b'{"id":1}', None, None]
    )

    found = _source(kafka_broker, topic).tables()

    assert {name: (table.names, table.primary_keys) for name, table in found.items()} == {
        "d.a": (("id",), ("id",)),
        "d.b": (("id",), ()),
    }


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("earliest", [0, 1, 2, 3]),
        ("latest-offset", []),
        ({0: 1}, [1, 2, 3]),
        ("partition:0,offset:3", [3]),
        (datetime(2024, 1, 1, 0, 0, 2, tzinfo=UTC), [2, 3]),
        (datetime(2025, 1, 1, tzinfo=UTC), []),
    ],
    ids=str,
)
def test_reading_begins_where_it_is_told(
    kafka_broker: Broker, topic: str, start: Any, expected: list[int]
) -> None:
    kafka_broker.create(topic)
    begin = round(datetime(2024, 1, 1, tzinfo=UTC).timestamp() * 1000)
    for number in range(4):
        kafka_broker.produce(topic, [_row(number)], timestamp=begin + 1000 * number)

    assert _caught_up(_source(kafka_broker, topic, start=start))[0] == expected


def test_a_group_gets_positions_and_gives_a_start(kafka_broker: Broker, topic: str) -> None:
    kafka_broker.create(topic)
    kafka_broker.produce(topic, _rows(5))
    cluster = kafka(kafka_broker.address, group=f"group of {topic}")
    source = cluster.topic(topic, format="debezium-json", start="group")

    with pytest.raises(SourceError, match="the group committed no offset"):
        source.tables()
    source.acknowledge({topic: {"0": 3}})

    assert _caught_up(source)[0] == [3, 4]


def test_lost_offsets_are_an_error(kafka_broker: Broker, topic: str) -> None:
    from confluent_kafka import TopicPartition  # noqa: PLC0415 - an extra

    kafka_broker.create(topic)
    kafka_broker.produce(topic, _rows(10))
    source = _source(kafka_broker, topic)
    asked = TopicPartition(topic, 0, 6)
    kafka_broker.admin.delete_records([asked])[asked].result(30)

    with pytest.raises(
        SourceError, match=r"offsets 4 to 5 were deleted before they were read.*retention"
    ):
        next(source.read({topic: {"0": 4}}, lambda _: True))
    with pytest.raises(SourceError, match=r"ends at offset 10, and 99 is next.*created again"):
        next(source.read({topic: {"0": 99}}, lambda _: True))
    with pytest.raises(SourceError, match=r"\[7\] is not there any more"):
        next(source.read({topic: {"0": 6, "7": 1}}, lambda _: True))
    assert _caught_up(source, {topic: {"0": 6}})[0] == [6, 7, 8, 9]


def test_offsets_that_are_lost_while_it_reads_are_an_error(
    kafka_broker: Broker, topic: str
) -> None:
    from confluent_kafka import TopicPartition  # noqa: PLC0415 - an extra

    kafka_broker.create(topic)
    kafka_broker.produce(topic, _rows(10))
    source = _source(kafka_broker, topic)
    reader = source._reader()
    asked = TopicPartition(topic, 0, 6)
    try:
        reader._assign(reader.first_offsets(None))
        kafka_broker.admin.delete_records([asked])[asked].result(30)
        reader._assign({(topic, 0): 2})  # what it would ask for next
        with pytest.raises(SourceError, match=r"at offset 2: .*cannot be read again"):
            list(map(_consumed, [reader] * 100))
    finally:
        reader.close()


def _consumed(reader: module.Reader) -> None:
    reader._consume()


def test_a_topic_that_goes_away_is_an_error(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert module._DISCOVERY_SECONDS < 10, "until that is over a job reads on, and nothing comes"
    monkeypatch.setattr(module, "_DISCOVERY_SECONDS", 0.2)
    kafka_broker.create(topic)
    kafka_broker.produce(topic, _rows(2))
    events = _source(kafka_broker, topic).read(None, lambda _: True)
    next(events)

    kafka_broker.admin.delete_topics([topic])[topic].result(30)

    with pytest.raises(SourceError, match=topic):
        list(islice(events, 200))


@pytest.mark.parametrize("is_reading", [False, True])
def test_a_topic_that_is_made_again_with_as_many_messages_is_another_one(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch, is_reading: bool
) -> None:
    monkeypatch.setattr(module, "_DISCOVERY_SECONDS", 0.2)
    kafka_broker.create(topic)
    kafka_broker.produce(topic, _rows(2))
    events = _source(kafka_broker, topic).read(None, lambda _: True)
    position = next(one.position for one in events if isinstance(one, Boundary))
    if not is_reading:
        del events

    kafka_broker.admin.delete_topics([topic])[topic].result(30)
    until(lambda: topic not in kafka_broker.admin.list_topics(timeout=5).topics)
    kafka_broker.create(topic)
    kafka_broker.produce(topic, _rows(9))

    if not is_reading:
        events = _source(kafka_broker, topic).read(position, lambda _: True)
        with pytest.raises(SourceError, match="created again"):
            _source(kafka_broker, topic).newest(position)
    with pytest.raises(SourceError, match=r"created again|cannot be read again"):
        list(islice(events, 200))


def test_what_is_not_there_is_said(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SourceError, match=f"there is no topic '{topic}'"):
        _source(kafka_broker, topic).tables()

    monkeypatch.setattr(module, "_CONTACT_SECONDS", 0.5)
    with pytest.raises(SourceError, match=r"kafka 127[.]0[.]0[.]1:1 nothing"):
        kafka("127.0.0.1:1").topic("nothing", format="json").tables()


def test_an_idle_source_yields_boundaries(kafka_broker: Broker, topic: str) -> None:
    kafka_broker.create(topic)
    events = _source(kafka_broker, topic).read(None, lambda _: True)

    with closing(events):  # type: ignore[type-var]
        found = list(islice(events, 4))

    assert all(isinstance(event, Boundary) for event in found)
    assert isinstance(found[-1], Boundary)
    assert found[-1].phase is Phase.CAUGHT_UP


def test_settings_that_are_the_jobs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedError, match=r"'auto.offset.reset' of Kafka.*lost offset"):
        kafka("127.0.0.1:1", options={"auto.offset.reset": "earliest"})
    with pytest.raises(UnsupportedError, match=r"'sasl.password'.*password_env="):
        kafka("127.0.0.1:1", options={"sasl.password": "secret"})
    with pytest.raises(UnsupportedError, match="start = 'middle'"):
        kafka("127.0.0.1:1").topic("t", format="json", start="middle")
    with pytest.raises(UnsupportedError, match="format = 'yaml'"):
        kafka("127.0.0.1:1").topic("t", format="yaml")
    with pytest.raises(UnsupportedError, match="schema registry"):
        kafka("127.0.0.1:1").topic("t", format="debezium-avro")
    monkeypatch.setenv("KAFKA_PASSWORD", "hidden words")
    cluster = kafka("127.0.0.1:1", password_env="KAFKA_PASSWORD")
    assert "hidden words" not in repr(cluster)
    assert cluster._configuration()["sasl.password"] == "hidden words"


def test_a_broker_that_is_killed_and_started_again_loses_and_doubles_nothing(
    tmp_path: Path, kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is gone in the midst of messages, and as another reading begins; columns change meanwhile.

    Messages are shorter and longer than what the client asks for at a time.
    """
    monkeypatch.setattr(module, "_AGAIN_SECONDS", 0.2)
    kafka_broker.create(topic, 2, flush_messages="1")
    catalog = pm.connect(tmp_path)
    wanted: list[dict[str, Any]] = []

    def send(partition: int, ids: range, **kinds: str) -> None:
        kinds = {"id": "int32", **kinds}
        rows = [{name: _value(kind, id) for name, kind in kinds.items()} for id in ids]
        told = [typed("d", row, kinds=kinds) for row in rows]
        kafka_broker.produce(topic, told, partition=partition)
        wanted.extend(rows)

    send(0, range(250), a="int16")
    send(0, range(250, 500), a="int64", b="string")
    # Not all messages are on their way when the broker ends.
    options = {"fetch.message.max.bytes": "1000", "reconnect.backoff.max.ms": "200"}
    cluster = kafka(kafka_broker.address, options=options)
    source = cluster.topic(topic, format="debezium-json")
    made = catalog.ingest(source, into="ods", name="j", interval="50 ms", table_names="t")
    made.start()
    try:
        until(lambda: made.status.rows > 0)
        kafka_broker.kill()
        until(lambda: any("any broker" in one for one in made.status.warnings))
        begins = _source(kafka_broker, topic).read(None, lambda _: True)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_CONTACT_SECONDS", 0.5)
            assert isinstance(next(begins), Waits)
        kafka_broker.start()
        send(1, range(500, 600), b="string", c="int32")
        until(lambda: made.status.rows >= 600)
        assert len(_ids(_until(begins, lambda one: one.phase is Phase.CAUGHT_UP))) == 600
    finally:
        made.stop()
    found = catalog.table("ods.t").scan().to_arrow().sort_by("id").to_pylist()
    nulls = dict.fromkeys("abc")
    assert found == [{**nulls, **row} for row in wanted]
    kinds = [event.kind for event in made.events]
    assert (kinds.count("lost"), kinds.count("failed")) == (1, 0)


def _value(kind: str, number: int) -> int | str:
    lengths = (0, 1, 127, 128, 900, 1000, 1001, 5000, *(9,) * 50, 70_000)
    return "ä" * (lengths[number % len(lengths)] // 2) if kind == "string" else number


def test_brokers_that_say_nothing_are_waited_for_and_then_an_error(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_DISCOVERY_SECONDS", 0.2)
    monkeypatch.setattr(module, "_AGAIN_SECONDS", 0.2)
    monkeypatch.setattr(module, "_SECOND", 0.3)
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.1)
    kafka_broker.create(topic)
    kafka_broker.produce(topic, _rows(3))
    events = _source(kafka_broker, topic).read(None, lambda _: True)
    waits = (event for event in events if isinstance(event, Waits))
    while not _ids([next(events)]):
        pass

    with kafka_broker.stopped():
        assert next(waits).what.startswith("any broker, which was last heard")
        monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)
        with pytest.raises(SourceError):
            next(waits)


def test_a_compacted_topic_has_gaps_and_loses_nothing(
    tmp_path: Path, kafka_broker: Broker, topic: str, rng: np.random.Generator
) -> None:
    """Offsets that the position names, and many before the end, are not there any more."""
    often = {"segment_ms": "100", "min_cleanable_dirty_ratio": "0.01"}
    kafka_broker.create(topic, 1, cleanup_policy="compact", **often)
    rows: dict[int, int] = {}

    def change(count: int, *, deletes: bool = False) -> None:
        keys: list[bytes | None] = []
        values: list[bytes | None] = []
        for id in rng.integers(0, 12, count).tolist():
            after = {"id": id, "n": int(rng.integers(1000))}
            before = {"id": id, "n": rows[id]} if id in rows else None
            rows[id] = after["n"]
            keys.append(b'{"id":%d}' % id)
            told = {"before": before, "after": after, "op": "u" if before else "c"}
            values.append(json.dumps(told | {"source": {"db": "d", "table": "t"}}).encode())
        if deletes:
            gone = next(iter(rows))
            told = {"before": {"id": gone, "n": rows.pop(gone)}, "after": None, "op": "d"}
            keys += [b'{"id":%d}' % gone] * 2
            values += [json.dumps(told | {"source": {"db": "d", "table": "t"}}).encode(), None]
        kafka_broker.produce(topic, values, keys=keys)

    def job(name: str) -> Job:
        source = _source(kafka_broker, topic, columns={"id": "BIGINT", "n": "BIGINT"})
        return catalog.ingest(
            source, into=name, name=name, primary_keys=["id"], options={"bucket": 1}
        )

    def found(name: str) -> dict[int, int]:
        return dict(
            row.values() for row in catalog.table(f"{name}.t").scan().to_arrow().to_pylist()
        )

    catalog = pm.connect(tmp_path)
    change(60, deletes=True)
    followed = job("followed")
    followed.run()
    assert found("followed") == rows
    end = time.monotonic() + 60
    count = 60
    while len(_caught_up(_source(kafka_broker, topic))[0]) > count // 2:
        assert time.monotonic() < end, "the broker does not compact the topic"
        time.sleep(0.15)
        change(30)
        count += 30
    change(30, deletes=True)
    followed.run()
    job("late").run()

    assert found("late") == rows
    assert found("followed") == rows


def test_parts_are_what_is_read_without_them(
    kafka_broker: Broker, topic: str, rng: np.random.Generator
) -> None:
    from confluent_kafka import Producer  # noqa: PLC0415 - an extra

    kafka_broker.create(topic, 3)
    for number in range(6):
        kafka_broker.produce(
            topic, _rows(int(rng.integers(200)), number * 300), partition=number % 3
        )
    producer = Producer({"bootstrap.servers": kafka_broker.address, "transactional.id": topic})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, _row(7777), partition=1)
    producer.commit_transaction(30)  # a marker is after it
    source = pickle.loads(pickle.dumps(_source(kafka_broker, topic)))
    wanted, end = _caught_up(source)

    position, found = source.beginning(), []
    assert source.newest(position) == end
    until = end
    kafka_broker.produce(topic, _rows(3, 9000))
    while position != end:
        step = source.newest(position, most=150, until=until)
        for part in source.parts(position, step):
            events = list(source.read_part(part, lambda _: True))
            assert [isinstance(event, Boundary) for event in events][-1]
            assert _ids(events) == _ids(list(source.read_part(part, lambda _: True)))
            found += _ids(events)
        assert step != position
        position = step
    source.close()

    assert sorted(found) == sorted(wanted)
    with pytest.raises(SourceError, match="ends at offset"):
        list(source.read_part([topic, 0, 0, 10_000], lambda _: True))


def test_messages_come_over_tls(
    kafka_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = certificates()
    kafka_broker.create(topic)
    kafka_broker.produce(topic, _rows(500))
    address = f"127.0.0.1:{kafka_broker.tls_port}"
    options = {
        "security.protocol": "SSL",
        "ssl.ca.location": str(made.authority),
        "ssl.certificate.location": str(made.client),
        "ssl.key.location": str(made.client_key),
    }

    source = kafka(address, options=options).topic(topic, format="debezium-json")
    assert _caught_up(source)[0] == [*range(500)]

    monkeypatch.setattr(module, "_CONTACT_SECONDS", 1.0)
    wrong = kafka(address, options=options | {"ssl.ca.location": str(made.other)})
    with pytest.raises(SourceError, match=f"kafka {address} {topic}"):
        wrong.topic(topic, format="debezium-json").tables()
