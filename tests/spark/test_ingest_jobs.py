"""Jobs that read a source on executors: the same rows as without Spark, once, with each engine."""

from __future__ import annotations

import json
import pickle
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.streaming.readwriter import DataStreamWriter

import paimonlab as pm
from paimonlab.errors import IngestError, IngestStalledError, UnsupportedError
from paimonlab.ingest import landing, running
from paimonlab.ingest.added_columns import AddedColumns
from paimonlab.ingest.spark import running as spark_running
from paimonlab.ingest.spark.executor_write import DivideTask, ShareTask, TableWrite, Written
from paimonlab.ingest.spark.progress import Progress, Sign
from paimonlab.ingest.spark.reading import FACTS, BatchLimit, ChangesReader
from paimonlab.spark.writing.executor_write import WriteTask
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from tests.ingest.formats.schema_registry import record, schema_registry
from tests.ingest.kafka.broker import Broker, BrokerMissingError, broker
from tests.ingest.parted_log import PARTS, HangingLog, PartedLog, RenamingLog, RereadableLog

Row = dict[str, Any]
_LINE = '{"op":"c","before":null,"after":{"id":"%s"},"source":{"db":"d","table":"t"}}'
_TYPES = {"id": "int32", "v": "string", "n": "int32", "dt": "string"}


class Shop:
    """Two tables whose changes are told in a log, with the types of their columns."""

    def __init__(self, log: PartedLog, rng: np.random.Generator) -> None:
        self.rows: dict[int, Row] = {}
        self.lines: list[Row] = []
        self.types = dict(_TYPES)
        self._log = log
        self._rng = rng

    def change(self, count: int) -> None:
        """Make changes of both tables."""
        lines: list[list[str]] = [[] for _ in range(PARTS)]
        for number in range(count):
            key = int(self._rng.integers(60))
            old = self.rows.pop(key, None)
            new: Row | None = {"id": key, "v": f"v{number}", "n": number, "dt": f"d{key % 3}"}
            if old is not None and self._rng.random() < 0.3:
                new = None
            else:
                assert new is not None
                new |= {name: number for name in self.types if name not in new}
                self.rows[key] = new
            lines[key % PARTS].append(self._line("keyed", old, new))
            one = {"id": len(self.lines), "v": None, "n": number, "dt": "x"}
            self.lines.append(one)
            lines[number % PARTS].append(self._line("log", None, one))
        for part, found in enumerate(lines):
            self._log.add(part, found)

    def _line(self, table: str, old: Row | None, new: Row | None) -> str:
        types = self.types if table == "keyed" else _TYPES
        columns = [
            {"field": name, "type": kind, "optional": name != "id"} for name, kind in types.items()
        ]
        sides = [
            {"field": side, "type": "struct", "fields": columns} for side in ("before", "after")
        ]
        op = "d" if new is None else "c" if old is None else "u"
        source = {"db": "shop", "table": table}
        payload = {"before": old, "after": new, "source": source, "op": op, "pkNames": ["id"]}
        if table == "log":
            del payload["pkNames"]
        return json.dumps({"schema": {"type": "struct", "fields": sides}, "payload": payload})


def _job(catalog: pm.Catalog, log: PartedLog, engine: Any, options: Any = None, **more: Any) -> Any:
    return catalog.ingest(
        log,
        into="ods",
        name="shop",
        engine=engine,
        interval=0.1,
        partition_keys={"keyed": ["dt"]},
        primary_keys={"keyed": ["id", "dt"]},
        computed={"keyed": {"twice": "upper(v)"}},
        options=options or {"bucket": "-1"},
        **more,
    )


def _rows(catalog: pm.Catalog, name: str) -> list[Row]:
    rows: list[Row] = catalog.table(f"ods.{name}").scan().to_arrow().to_pylist()
    return sorted(rows, key=lambda row: int(row["id"]))


class _DeathError(BaseException):
    """Ends a job as a kill would: nothing catches it."""


def _die_between_tables(patch: pytest.MonkeyPatch) -> None:
    """Let the process end when `keyed` is committed and `log` is not."""
    committed, is_first_done = landing._committed, threading.Event()

    def dying(table: pm.Table, *given: Any) -> Any:
        if table.name == "ods.log":
            assert is_first_done.wait(60)
            raise _DeathError
        found = committed(table, *given)
        is_first_done.set()
        return found

    patch.setattr(landing, "_committed", dying)


def _stop_streams(patch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    """Let others stop the stream while its first batch is committed."""
    committed = landing._committed

    def stopping(table: pm.Table, *given: Any) -> Any:
        for query in spark.streams.active:
            threading.Thread(target=query.stop).start()  # it waits for the batch
        return committed(table, *given)

    patch.setattr(landing, "_committed", stopping)


def test_executors_go_on_where_a_process_ended(
    spark: SparkSession, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = pm.connect(tmp_path / "w")
    log = PartedLog(tmp_path / "log")
    shop = Shop(log, rng)
    shop.change(150)
    first = _job(catalog, log, "native")
    first.run()
    shop.change(100)
    shop.types |= {"n": "int64", "more": "int32"}
    shop.change(100)

    last = _job(catalog, log, "spark", max_rows=150)
    with monkeypatch.context() as patch:
        _die_between_tables(patch)
        with pytest.raises(_DeathError):
            last.run()
    newest = [catalog.table(f"ods.{name}").snapshot for name in ("keyed", "log")]
    identifiers = [one.commit_identifier for one in newest if one is not None]
    assert identifiers[0] == identifiers[1] + 1, "one table has the epoch, the other has it not"
    shop.change(150)
    with monkeypatch.context() as patch:
        _stop_streams(patch, spark)
        with pytest.raises(
            IngestError, match=r"was stopped by something else|Spark's stream failed"
        ):
            last.run()
    last.start()
    end = time.monotonic() + 120
    while last.status.rows < _count(log):
        assert last.is_running, last.status.error
        assert time.monotonic() < end, last.status
        time.sleep(0.05)
    last.stop()

    assert last.status.phase == "stopped"
    assert last.status.epoch > first.status.epoch + 1, "max_rows bounds a batch"
    assert _rows(catalog, "keyed") == [
        {"more": None} | row | {"twice": row["v"].upper()} for _, row in sorted(shop.rows.items())
    ]
    assert _rows(catalog, "log") == shop.lines
    altered = [event for event in last.events if event.kind == "altered"]
    assert {event.table for event in altered} == {"ods.keyed"}
    assert last.status.tables[0].name == "ods.keyed"
    snapshots = catalog.table("ods.log").snapshots.list()
    assert {one.commit_user for one in snapshots} == {"ingest-shop"}


class _LateQuery:
    """A stream whose Python process took too long to start."""

    isActive = False  # noqa: N815 - Spark's name

    def stop(self) -> None:
        pass

    def exception(self) -> Exception:
        return RuntimeError("Python worker failed to connect back.")


@pytest.mark.parametrize("late", [2, 99])
def test_a_stream_whose_python_process_is_late_is_started_again(
    spark: SparkSession,
    tmp_path: Path,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    late: int,
) -> None:
    """Spark gives it ten seconds, which are not enough on a busy machine."""
    catalog, log = pm.connect(tmp_path / "w"), PartedLog(tmp_path / "log")
    Shop(log, rng).change(20)
    job = _job(catalog, log, "spark")
    start, starts = DataStreamWriter.start, []

    def starting(writer: DataStreamWriter, *given: Any, **more: Any) -> Any:
        starts.append(writer)
        return _LateQuery() if len(starts) <= late else start(writer, *given, **more)

    monkeypatch.setattr(DataStreamWriter, "start", starting)
    if late == 99:
        with pytest.raises(IngestError, match="failed to connect back"):
            job.run()
        assert len(starts) == 5
        return
    job.run()

    assert len(starts) == 3
    assert job.status.rows == _count(log)
    warned = [event.text for event in job.events if event.kind == "warning"]
    assert ["is started again" in text for text in warned] == [True, True]


def test_executors_read_tables_anew_and_more_tables(
    spark: SparkSession, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = pm.connect(tmp_path / "w")
    log = RereadableLog(tmp_path / "log")
    shop = Shop(log, rng)
    shop.change(150)
    job = _job(catalog, log, "spark", max_rows=100, including=r"shop\.keyed")
    job.run()
    wrong = {"id": 7, "v": "w", "n": 1, "dt": "nowhere", "twice": "w"}
    catalog.table("ods.keyed").write(pa.Table.from_pylist([wrong]))
    shop.change(50)
    job.add(r"shop\.log")
    job.resnapshot("ods.keyed")
    with monkeypatch.context() as patch:
        _die_between_tables(patch)
        with pytest.raises(_DeathError):
            job.run(until=0.01)  # what was begun is read to its end
    shop.change(50)
    job.run()

    assert _rows(catalog, "keyed") == [
        row | {"twice": row["v"].upper()} for _, row in sorted(shop.rows.items())
    ]
    assert _rows(catalog, "log") == shop.lines
    kinds = [one.commit_kind.value for one in catalog.table("ods.keyed").snapshots.list()]
    assert kinds.count("OVERWRITE") == 1
    ids = [one.commit_identifier for one in catalog.table("ods.log").snapshots.list()]
    assert ids == sorted({*ids}), "each epoch is committed once"


def _count(log: PartedLog) -> int:
    lines = [line for part in range(PARTS) for line in log._lines(part)]
    return sum(2 if json.loads(line)["payload"]["op"] == "u" else 1 for line in lines)


def test_a_row_that_tasks_find_wrong_ends_the_job_and_leaves_nothing(tmp_path: Path) -> None:
    log = PartedLog(tmp_path / "log")
    log.add(0, [_LINE % 1, _LINE % 22])
    log.add(1, [_LINE % 333, "oops"])
    catalog = pm.connect(tmp_path / "w")
    catalog.create_database("ods")
    table = catalog.create_table("ods.t", {"id": "VARCHAR(2)"})
    definition, store = definition_of(table), store_of(table)
    write = WriteTask(write_plan(definition, store.layout), store.file_io, None)
    tables = {"d.t": TableWrite(name="ods.t", task=write, added=AddedColumns())}
    limit = BatchLimit(str(tmp_path / "limit"), 10)
    limit.learn(1 << 20, 100)
    reader = ChangesReader(log, log.beginning(), limit)
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    parts = reader.partitions(reader.initialOffset(), end)

    events = [[*reader.read(part)] for part in parts]
    pieces = [[*DivideTask(tables=tables, shares=1)(iter(of))] for of in events]
    good, bad = (_written(write, of) for of in pieces)

    facts = [pickle.loads(row[FACTS][0].as_buffer()) for row in events[1]]
    assert [type(one).__name__ for one in facts] == ["RowFacts", "Unreadable", "Boundary"]
    assert (good.rows, good.error) == (2, None)
    assert (bad.rows, bad.messages) == (0, ())
    (aside,) = bad.aside
    assert "has 3 characters" in aside.error
    assert len([*Path(table.path).glob("bucket-*/data-*")]) == 1


def test_batches_have_as_many_bytes_as_they_are_told(tmp_path: Path) -> None:
    log = PartedLog(tmp_path / "log")
    log.add(0, [_LINE % number for number in range(30)])
    limit = BatchLimit(str(tmp_path / "limit"), 25)
    reader = ChangesReader(log, log.beginning(), limit)
    ends = []
    for row_bytes in (100, 250, 2000):
        limit.learn(2000, row_bytes)
        offset = reader.latestOffset(reader.initialOffset(), reader.getDefaultReadLimit())
        ends.append(offset["position"][0])
    assert ends == [10, 4, 1]
    limit.learn(1 << 20, 10)
    end = reader.latestOffset(reader.initialOffset(), reader.getDefaultReadLimit())
    assert end["position"][0] == 25, "max_rows bounds it, too"


def _written(write: WriteTask, pieces: list[pa.RecordBatch]) -> Written:
    ((row,),) = (batch.column(0) for batch in ShareTask({"ods.t": write})(iter(pieces)))
    (found,) = pickle.loads(row.as_buffer())
    assert isinstance(found, Written)
    return found


_ROW = {
    "type": "record",
    "name": "Row",
    "fields": [{"name": "id", "type": "int"}, {"name": "v", "type": ["null", "string"]}],
}
_WIDE = {**_ROW, "fields": [*_ROW["fields"], {"name": "n", "type": ["null", "long"]}]}
_SOURCE = {
    "type": "record",
    "name": "Source",
    "fields": [{"name": name, "type": "string"} for name in ("db", "table")],
}


def _change_of(row: Row) -> Row:
    members = {"before": ["null", row], "after": ["null", "Row"], "source": _SOURCE, "op": "string"}
    fields = [{"name": name, "type": kind} for name, kind in members.items()]
    return {"type": "record", "name": "Change", "fields": fields}


@pytest.fixture
def kafka_broker() -> Iterator[Broker]:
    """Run a broker: that of librdkafka takes half a second to say where a partition ends."""
    try:
        with broker() as made:
            yield made
    except BrokerMissingError as missing:
        pytest.skip(f"no broker of Kafka: {missing}")


def test_executors_ask_the_registry_of_avro(
    spark: SparkSession, tmp_path: Path, kafka_broker: Broker
) -> None:
    """The second schema is known to no process before."""
    schemas = {1: {**_ROW, "fields": _ROW["fields"][:1]}, 2: _change_of(_ROW), 3: _change_of(_WIDE)}
    kafka_broker.create("t", 2)

    def write(number: int, *rows: Row) -> None:
        for row in rows:
            change = {"before": None, "after": row, "source": {"db": "d", "table": "t"}, "op": "c"}
            key = record(1, schemas[1], row)
            value = record(number, schemas[number], change)
            kafka_broker.produce("t", [value], keys=[key], partition=row["id"] % 2)

    old = [{"id": number, "v": None if number % 3 else f"v{number}"} for number in range(8)]
    new = [{"id": number, "v": "w", "n": number << 40} for number in range(4, 12)]
    catalog = pm.connect(tmp_path)
    with schema_registry(schemas) as registry:
        cluster = pm.kafka(kafka_broker.address, registry=registry)
        source = cluster.topic("t", format="debezium-avro")
        told: Any = {"engine": "spark", "options": {"bucket": "1"}}
        job = catalog.ingest(source, into="ods", name="avro", **told)
        write(2, *old)
        job.run()
        write(3, *new)
        job.run()
        catalog.table("ods.t").truncate()
        job.resnapshot("ods.t")
        job.run()

    assert catalog.table("ods.t").primary_keys == ("id",)
    assert _rows(catalog, "t") == [*({**row, "n": None} for row in old[:4]), *new]


def test_a_batch_that_hangs_is_seen_and_ends_the_run(
    spark: SparkSession, tmp_path: Path, rng: np.random.Generator
) -> None:
    catalog = pm.connect(tmp_path / "w")
    log = HangingLog(tmp_path / "log")
    shop = Shop(log, rng)
    shop.change(60)
    job = _job(catalog, log, "spark", max_stall=2)
    with pytest.raises(IngestStalledError, match=r"no progress since .* max_stall = 2 s"):
        job.run()
    assert [event.kind for event in job.events][-2:] == ["stalled", "failed"]
    assert not catalog.has_table("ods.log") or not _rows(catalog, "log")

    (tmp_path / "gate").touch()
    _job(catalog, log, "native").run()
    assert [row["id"] for row in _rows(catalog, "keyed")] == sorted(shop.rows)
    assert _rows(catalog, "log") == shop.lines


def test_a_commit_that_hangs_is_seen_and_ends_the_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = pm.connect(tmp_path / "w")
    log = PartedLog(tmp_path / "log")
    log.add(0, ['{"op":"c","after":{"id":1},"source":{"db":"d","table":"t"}}'])
    land, still_seconds = landing.land, Progress.still_seconds
    hangs, goes_on = threading.Event(), threading.Event()

    def hanging(*given: Any, **told: Any) -> Any:
        hangs.set()
        assert goes_on.wait(60)
        return land(*given, **told)

    def since_it_hangs(self: Progress, sign: Sign | None, now: float) -> float:
        # A busy machine takes longer than max_stall to start a stream.
        return still_seconds(self, sign, now) if hangs.is_set() else 0.0

    monkeypatch.setattr(running, "land", hanging)
    monkeypatch.setattr(Progress, "still_seconds", since_it_hangs)
    monkeypatch.setattr(spark_running, "_STOP_SECONDS", 0.5)
    told: Any = {"into": "ods", "name": "j", "max_stall": 1}
    with pytest.raises(IngestStalledError, match=r"the driver commits epoch 1\. It was ended"):
        catalog.ingest(log, engine="spark", **told).run()
    goes_on.set()
    catalog.ingest(log, into="ods", name="j").run()
    assert [row["id"] for row in _rows(catalog, "t")] == ["1"]


class Told:
    """Changes of a table in one partition, of which each thing happens that a job can be told."""

    def __init__(self, log: PartedLog, rng: np.random.Generator) -> None:
        self._log, self._rng = log, rng
        self._rows: dict[int, Row] = {}
        self._types = {"id": "int32", "v": "string", "w": "string", "n": "int32"}

    def change(self, count: int) -> None:
        """Write changes, some of which cannot be read or stored."""
        self._log.add(0, ["oops", *(self._drawn(number) for number in range(count))])

    def delete(self) -> None:
        """Delete a row, of which its key alone is told."""
        key = next(iter(self._rows))
        del self._rows[key]
        self._log.add(0, [self._line(dict.fromkeys(self._types) | {"id": key}, None)])

    def rename(self, **names: str) -> None:
        self._types = {names.get(name, name): kind for name, kind in self._types.items()}
        self._rows = {
            key: {names.get(name, name): value for name, value in row.items()}
            for key, row in self._rows.items()
        }
        self._log.add(0, [json.dumps({"renames": names, "table": "shop.t"})])

    def retype(self, **types: str | None) -> None:
        for name, kind in types.items():
            self._types.pop(name, None)
            if kind is not None:
                self._types[name] = kind
        self._rows = {
            key: {name: row.get(name) for name in self._types} | dict.fromkeys(types)
            for key, row in self._rows.items()
        }
        for row in self._rows.values():
            for name in {*row} - {*self._types}:
                del row[name]

    def empty(self) -> None:
        self._rows.clear()
        line = {"op": "t", "before": None, "after": None, "source": {"db": "shop", "table": "t"}}
        self._log.add(0, [json.dumps(line)])

    def _drawn(self, number: int) -> str:
        drawn = int(self._rng.integers(30))
        key = int(self._rng.integers(12))
        old = self._rows.pop(key, None)
        new: Row | None = None
        if old is None or drawn < 20:
            new = {
                name: number if kind == "int32" else f"{name}{number}"
                for name, kind in self._types.items()
            } | {"id": key}
            if drawn < 4:
                new["v"] = "x"  # too short for its function
            self._rows[key] = new
        else:
            old = {name: key if name == "id" else None for name in self._types}
        return self._line(old, new)

    def _line(self, old: Row | None, new: Row | None) -> str:
        columns = [
            {"field": name, "type": kind, "optional": name != "id"}
            for name, kind in self._types.items()
        ]
        sides = [
            {"field": side, "type": "struct", "fields": columns} for side in ("before", "after")
        ]
        op = "d" if new is None else "c" if old is None else "u"
        source = {"db": "shop", "table": "t"}
        payload = {"before": old, "after": new, "source": source, "op": op, "pkNames": ["id"]}
        return json.dumps({"schema": {"type": "struct", "fields": sides}, "payload": payload})


def _dying(*_: Any, **__: Any) -> None:
    raise _DeathError


def _state(catalog: pm.Catalog) -> Any:
    dead = catalog.table("ods.shop__dead").scan().to_arrow().drop_columns(["ts"]).to_pylist()
    table = catalog.table("ods.t")
    return table.schema.field_names, _rows(catalog, "t"), sorted(dead, key=str)


def test_executors_do_all_that_a_job_is_told_as_one_process_does(
    spark: SparkSession, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = RenamingLog(tmp_path / "log")
    told = Told(log, rng)
    catalogs = [pm.connect(tmp_path / engine) for engine in ("native", "spark")]

    def job_of(catalog: pm.Catalog, engine: Any) -> Any:
        return catalog.ingest(
            log,
            into="ods",
            name="shop",
            engine=engine,
            interval=0.1,
            computed={"c": "substring(v,1,2)"},
            evolve="exact",
            on_truncate="apply",
            on_delete="mark:gone",
            max_dead=1000,
            tags=2,
            max_bytes="128 kb",
            options={"bucket": 2, "deletion-vectors.enabled": True},
        )

    jobs = [job_of(catalogs[0], "native"), job_of(catalogs[1], "spark")]
    told.change(40)
    told.empty()
    told.change(50)
    told.rename(w="w2")
    told.change(20)
    told.retype(n=None)
    told.change(20)
    told.retype(n="string")
    told.change(20)
    for job in jobs:
        job.run()
    assert _state(catalogs[0]) == _state(catalogs[1])
    assert jobs[1].status.epoch > 1, "max_bytes bounds a batch"
    told.change(40)
    told.delete()
    with monkeypatch.context() as patch:
        patch.setattr(spark_running, "compact_written", _dying)
        with pytest.raises(_DeathError):
            jobs[1].run()
    jobs[1] = job_of(catalogs[1], "native")  # it makes what is missing
    for job in jobs:
        job.run()

    one, other = map(_state, catalogs)
    assert one == other
    assert any(row["gone"] for row in other[1])
    assert any("substring" in row["error"] for row in other[2])
    assert any(row["raw"] == b"oops" for row in other[2])
    table = catalogs[1].table("ods.t")
    tags = [f"ingest-shop-{jobs[1].status.epoch - back}" for back in (1, 0)]
    assert sorted(table.tags.list()) == sorted(tags)
    newest = table.scan(tag=tags[-1]).to_arrow().to_pylist()
    assert sorted(newest, key=lambda row: int(row["id"])) == other[1], "a tag has all rows"

    def mended(letter: Any) -> Row | None:
        return None if letter.row is None else letter.row | {"v": "mended", "c": None}

    done = [str(job.replay(mended)) for job in jobs]
    assert done[0] == done[1]
    assert _state(catalogs[0]) == _state(catalogs[1])


def test_a_table_that_is_emptied_while_other_partitions_have_rows_of_it_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    log = PartedLog(tmp_path / "log")
    emptied = '{"op":"t","before":null,"after":null,"source":{"db":"d","table":"t"}}'
    log.add(0, [_LINE % 1, emptied])
    log.add(1, [_LINE % 2])
    catalog = pm.connect(tmp_path / "w")
    told: Any = {"into": "ods", "name": "j", "on_truncate": "apply"}
    with pytest.raises(UnsupportedError, match=r"d\.t, whose rows come in several partitions"):
        catalog.ingest(log, engine="spark", **told).run()
    catalog.ingest(log, **told).run()
    assert len(_rows(catalog, "t")) < 2


def test_keys_that_move_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path / "w")
    log = PartedLog(tmp_path / "log")
    log.add(0, ['{"op":"c","after":{"id":1,"dt":"a"},"source":{"db":"d","table":"t"}}'])
    job = catalog.ingest(
        log, into="ods", name="one", engine="spark", primary_keys=["id"], partition_keys=["dt"]
    )
    with pytest.raises(UnsupportedError, match="whose primary key lacks a partition column"):
        job.run()
