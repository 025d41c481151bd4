"""Documents and change events of MongoDB, by pymongo from something that speaks its protocol.

No server of MongoDB could be had: events have the shape of its manual, values are compared with
what bson's own JSON says, and rows with those that Paimon's tests of its actions expect.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from bson import (
    Binary,
    Code,
    DatetimeMS,
    Decimal128,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
)
from bson.json_util import CANONICAL_JSON_OPTIONS, dumps
from click.testing import CliRunner

import paimonlab as pm
from paimonlab.cli.main import main
from paimonlab.errors import IngestDataError, SourceError, UnsupportedError
from paimonlab.ingest import check_source, forget_source, job_from_file, name_source
from paimonlab.ingest.changes import Boundary, Phase, RowChanges
from paimonlab.ingest.formats.bson_values import document_row
from paimonlab.ingest.source_names import is_source
from paimonlab.ingest.sources.mongodb.values import id_text, row_of
from paimonlab.ingest.statements import said_job
from paimonlab.spec.sql_text.ingest_syntax import parse_ingest_statement
from paimonlab.spec.sql_text.tokens import tokenize
from tests.ingest.mongodb.server import MongoServer, key_of
from tests.ingest.mongodb.writing import TABLES, Writer, said_by_server
from tests.waiting import until


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path / "warehouse")


def _source(mongo: MongoServer, *patterns: str, **told: Any) -> Any:
    made = pm.mongodb(mongo.hosts, options={"replicaSet": "rs0"})
    return made.tables(*(patterns or (r"shop\..*",)), **told)


def _run(catalog: pm.Catalog, source: Any, **told: Any) -> Any:
    options = {"bucket": "1"}
    job = catalog.ingest(source, **({"into": "ods", "name": "j", "options": options} | told))
    job.run(until="caught-up")
    return job


def _table(catalog: pm.Catalog, name: str) -> dict[str, dict[str, Any]]:
    found = catalog.table(name).scan().to_arrow().to_pylist()
    rows = {row["_id"]: {name: v for name, v in row.items() if v is not None} for row in found}
    assert len(rows) == len(found)
    return rows


def _oid(number: int) -> ObjectId:
    return ObjectId(f"1000000000000000000001{number:02d}")


_SCOOTER = {"name": "scooter", "description": "Small 2-wheel scooter", "weight": 3.14}
_BATTERY = {"name": "car battery", "description": "12V car battery", "weight": 8.1}
_DRILL = {"name": "12-pack drill bits", "description": "12-pack of drill bits", "weight": 0.8}


def test_rows_are_those_that_paimons_tests_expect(mongo: MongoServer, catalog: pm.Catalog) -> None:
    """apache/paimon@1.3.1 MongoDBSyncTableActionITCase: operations, then new members."""
    for number, document in enumerate((_SCOOTER, _BATTERY, _DRILL), 1):
        mongo.insert("shop.event", {"_id": _oid(number), **document})
    _run(catalog, _source(mongo))
    first = {str(_oid(1)): "3.14", str(_oid(2)): "8.1", str(_oid(3)): "0.8"}
    assert {key: row["weight"] for key, row in _table(catalog, "ods.event").items()} == first

    mongo.update("shop.event", _oid(1), description="Updated scooter description", weight=4)
    renewed = {"name": "new car battery", "description": "New 12V car battery", "weight": 9}
    mongo.replace("shop.event", {"_id": _oid(2), **renewed})
    mongo.update("shop.event", _oid(1), hobby="playing computer games")
    mongo.delete("shop.event", _oid(3))
    _run(catalog, _source(mongo))

    table = catalog.table("ods.event")
    assert table.schema.field_names == ("_id", "name", "description", "weight", "hobby")
    assert table.primary_keys == ("_id",)
    assert [tuple(row.values()) for row in table.scan().to_arrow().to_pylist()] == [
        (str(_oid(1)), "scooter", "Updated scooter description", "4", "playing computer games"),
        (str(_oid(2)), "new car battery", "New 12V car battery", "9", None),
    ]


def test_tables_are_the_collections_whatever_happens(
    mongo: MongoServer, catalog: pm.Catalog, seed: int
) -> None:
    """Documents change while they are read, and runs end and go on; a dict is the model."""
    rng = random.Random(seed)
    mongo.batch = rng.choice((3, 40))
    change = Writer(mongo, rng).change

    change(300)
    times = iter(range(30))
    mongo.before = lambda _command: change(2) if next(times, None) is not None else None
    job = catalog.ingest(_source(mongo), into="ods", name="j", options={"bucket": "1"})
    job.run(until="caught-up", rows=rng.choice((None, 120)))
    mongo.before = lambda _command: None
    for _ in range(2):
        change(30)
        _run(catalog, _source(mongo))

    for table in TABLES:
        assert _table(catalog, table.replace("shop", "ods")) == said_by_server(mongo, table)


def test_a_cluster_that_is_lost_is_waited_for(
    mongo: MongoServer, catalog: pm.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the midst of documents, of changes, and of a transaction; no row comes twice."""
    monkeypatch.setattr("paimonlab.ingest.sources.mongodb.client._MILLIS_TO_FIND", 50)
    monkeypatch.setattr("paimonlab.ingest.sources.losses.WAIT_SECONDS", 0.01)
    monkeypatch.setattr("paimonlab.ingest.sources.mongodb.source._FIRST_ROWS", 7)
    monkeypatch.setattr("paimonlab.ingest.sources.mongodb.source._BOUNDARY_SECONDS", 0.1)
    monkeypatch.setattr("paimonlab.ingest.sources.mongodb.client._AWAIT_MILLIS", 50)
    monkeypatch.setattr("paimonlab.ingest.running._TOLD_SECONDS", 0.05)
    monkeypatch.setattr("pymongo.common.MIN_HEARTBEAT_INTERVAL", 0.02)
    mongo.batch = 5
    mongo.insert("shop.items", *({"_id": number, "n": 0} for number in range(40)))
    asked, at, is_lost = 0, 3, False

    def is_gone(command: str) -> bool:
        nonlocal asked, at, is_lost
        asked += command == "getMore"
        if asked == at:
            at, is_lost = 0, True
        return is_lost

    def comes_back() -> None:
        nonlocal is_lost
        until(lambda: any("server to come back" in one for one in job.status.warnings))
        is_lost = False

    options = {"bucket": "1"}
    job = catalog.ingest(_source(mongo), into="ods", name="j", options=options, interval="20 ms")
    monkeypatch.setattr(mongo, "is_gone", is_gone)
    job.start()
    try:
        comes_back()
        until(lambda: job.status.rows == 40)
        with mongo.held():
            at = asked + 1
            mongo.update("shop.items", 3, n=1)
        comes_back()
        until(lambda: job.status.rows == 41)
        with mongo.held():
            at = asked + 3
            told = {"lsid": {"id": 1}, "txnNumber": 4}
            mongo.insert("shop.items", *({"_id": n, "n": 0} for n in range(40, 60)), **told)
            mongo.delete("shop.items", 5)
        comes_back()
        until(lambda: job.status.rows == 62)
    finally:
        job.stop()
    assert _table(catalog, "ods.items") == said_by_server(mongo, "shop.items")
    kinds = Counter(event.kind for event in job.events)
    assert (kinds["lost"], kinds["failed"], at) == (3, 0, 0)


def test_it_does_what_sources_promise(mongo: MongoServer) -> None:
    mongo.insert("shop.items", *({"_id": f"k{number}", "v": number} for number in range(150)))
    mongo.insert("shop.users", {"_id": _oid(1), "name": "u"})
    before = len(mongo.oplog)

    def add() -> None:
        mongo.insert("shop.items", {"_id": f"new{len(mongo.oplog)}"})

    check_source(lambda: _source(mongo), add=add)
    del mongo.oplog[before:]
    check_source(lambda: _source(mongo, start=datetime.fromtimestamp(0, UTC)), add=add)


def _values(rng: random.Random) -> list[Callable[[], Any]]:
    return [
        lambda: rng.choice((None, True, False, "", 'é"\n', "1", Code("f()"), Code("f", {"a": 1}))),
        lambda: rng.randrange(-(2**31), 2**31),
        lambda: Int64(rng.randrange(-(2**63), 2**63)),
        lambda: rng.choice((0.0, -0.0, 1.5, 1e300, float("nan"), float("-inf"), rng.random())),
        lambda: Decimal128(rng.choice(("1.10", "1E+3", "-0", "NaN", "-Infinity"))),
        lambda: DatetimeMS(rng.randrange(-(2**60), 2**60)),
        lambda: ObjectId(rng.randbytes(12)),
        lambda: Binary(rng.randbytes(16), rng.choice((0, 2, 3, 4, 5, 0x80))),
        lambda: Timestamp(rng.randrange(2**32), rng.randrange(2**32)),
        lambda: Regex(rng.choice(("", "a/b", "^x$")), rng.choice(("", "i", "mx"))),
        lambda: rng.choice((MinKey(), MaxKey())),
    ]


def test_values_are_written_as_those_of_extended_json(seed: int) -> None:
    """bson writes the JSON; how that is read is compared with Java elsewhere."""
    rng = random.Random(seed)
    drawn = _values(rng)

    def value(depth: int) -> Any:
        if depth and rng.random() < 0.3:
            return {name: value(depth - 1) for name in rng.sample("abcd", 2)}
        if depth and rng.random() < 0.3:
            return [value(depth - 1) for _ in range(rng.randrange(3))]
        return rng.choice(drawn)()

    for _ in range(300):
        document = {"_id": rng.randrange(9), "v": value(2)}
        written = dumps(document, json_options=CANONICAL_JSON_OPTIONS)
        assert row_of(document) == json.loads(document_row(written)), written

    ids = [one() for one in drawn for _ in range(20)]
    distinct = {dumps([one], json_options=CANONICAL_JSON_OPTIONS) for one in ids}
    assert len({id_text(one, "extended") for one in ids}) == len(distinct)


def test_a_transaction_is_whole_or_not_there(mongo: MongoServer) -> None:
    mongo.batch = 50
    source = _source(mongo, start="latest")
    events = source.read(None, lambda _table: True)
    next(events)
    with mongo.held():
        for number in range(3):
            lsid = {"id": Binary(bytes(16), 4)}
            for place in range(1_200):
                key = number * 10_000 + place
                mongo.insert("shop.a", {"_id": key}, lsid=lsid, txnNumber=Int64(number))
    rows, sums = 0, []
    for event in events:
        rows += event.rows.num_rows if isinstance(event, RowChanges) else 0
        if isinstance(event, Boundary):
            sums.append(rows)
            if event.phase is Phase.CAUGHT_UP and rows:
                break
    assert rows == 3_600
    assert {number % 1_200 for number in sums} == {0}


def test_collections_are_dropped_and_renamed(mongo: MongoServer, catalog: pm.Catalog) -> None:
    mongo.insert("shop.a", {"_id": 1})
    mongo.insert("shop.b", {"_id": 1})
    mongo.insert("shop.other", {"_id": 5, "v": "x"}, {"_id": 6, "v": "y"})
    source = _source(mongo, r"shop\.[a-d]")
    job = _run(catalog, source)
    assert job.plan().table("ods.other") is None

    mongo.update("shop.other", 5, v="z")
    mongo.drop("shop.a")
    mongo.rename("shop.other", "shop.d")
    mongo.rename("shop.b", "shop.zz")
    mongo.insert("shop.d", {"_id": 7, "v": "w"})
    mongo.note({"operationType": "dropDatabase", "ns": {"db": "shop"}})
    mongo.note({"operationType": "invalidate"})
    mongo.insert("shop.c", {"_id": 9})
    job = _run(catalog, source)

    told = {key: row["v"] for key, row in _table(catalog, "ods.d").items()}
    assert told == {"5": "z", "6": "y", "7": "w"}
    assert {name: [*_table(catalog, f"ods.{name}")] for name in "abc"} == {
        "a": ["1"],
        "b": ["1"],
        "c": ["9"],
    }
    reasons = [event.text for event in job.events if "rename" in event.text or "drop" in event.text]
    assert any("rename to shop.zz" in text for text in reasons), reasons


def test_an_updated_document_that_was_deleted_since(
    mongo: MongoServer, catalog: pm.Catalog
) -> None:
    """The server looks it up too late; Paimon's action fails, here the delete follows."""
    mongo.insert("shop.a", {"_id": 1, "v": 1}, {"_id": 2, "v": 1})
    _run(catalog, _source(mongo))
    mongo.update("shop.a", 1, v=2)
    mongo.delete("shop.a", 1)

    _run(catalog, _source(mongo))

    assert _table(catalog, "ods.a") == {"2": {"_id": "2", "v": "1"}}
    _run(catalog, _source(mongo, updates="image", start="latest"), name="other", into="odt")
    asked = [one["pipeline"][0]["$changeStream"] for one in mongo.commands if "aggregate" in one]
    assert asked[0]["fullDocument"] == "updateLookup"
    assert asked[-1]["fullDocument"] == "required"


def test_ids_of_several_kinds(mongo: MongoServer, catalog: pm.Catalog) -> None:
    """A number and its text are two documents, which must not become one row."""
    mongo.batch = 2
    keys: list[Any] = [1, 2.5, Int64(3), "1", "true", '{"$numberInt":"1"}', _oid(1), True, {"a": 1}]
    mongo.insert("shop.a", *({"_id": key, "v": dumps(key)} for key in keys))
    with pytest.raises(IngestDataError, match=r"_id is of kind str, others are number"):
        _run(catalog, _source(mongo))

    source = _source(mongo, ids="extended")
    job = catalog.ingest(source, into="ods", name="k", options={"bucket": "1"})
    job.run(rows=4)
    for key in keys[::2]:
        mongo.delete("shop.a", key)
    _run(catalog, source, name="k")

    assert sorted(row["v"] for row in _table(catalog, "ods.a").values()) == sorted(
        dumps(key) for key in keys[1::2]
    )


def test_columns_by_paths(mongo: MongoServer, catalog: pm.Catalog) -> None:
    fields = {"_id": "$._id", "city": "$.address.city", "first": "$.tags[0]", "odd": "$['a b']"}
    mongo.insert(
        "shop.a",
        {"_id": 1, "address": {"city": "Bern"}, "tags": [{"x": 1}, 2], "a b": None},
        {"_id": 2, "address": "none", "tags": [], "a b": 5},
    )
    source = _source(mongo, fields=fields)
    _run(catalog, source)
    mongo.delete("shop.a", 1)
    mongo.insert("shop.a", {"_id": 3, "address": {"city": "Rome"}})

    before = _table(catalog, "ods.a")
    _run(catalog, source)

    assert before["1"] == {"_id": "1", "city": "Bern", "first": '{"x":1}'}
    assert _table(catalog, "ods.a") == {
        "2": {"_id": "2", "odd": "5"},
        "3": {"_id": "3", "city": "Rome"},
    }
    for path in ("$", "address", "$..city", "$.a[*]", "$.a[?(@.b)]", "$.a.", "$.a,$.b"):
        with pytest.raises(UnsupportedError, match="the path"):
            _source(mongo, fields={"_id": "$._id", "c": path})
    with pytest.raises(ValueError, match=r"path \$\._id"):
        _source(mongo, fields={"c": "$.c"})


def test_rows_are_read_anew(mongo: MongoServer, catalog: pm.Catalog) -> None:
    mongo.insert("shop.a", {"_id": 1, "v": 1}, {"_id": 2, "v": 1})
    job = _run(catalog, _source(mongo, r"shop\.a"))
    with mongo.held():  # what the server does not tell
        mongo.collections["shop.a"] = {key_of(2): {"_id": 2, "v": 2}}
        mongo.insert("shop.b", {"_id": 5})
    job.resnapshot("ods.a")
    job.add(r"shop\.b")
    job.run(until="caught-up")

    assert _table(catalog, "ods.a") == {"2": {"_id": "2", "v": "2"}}
    assert [*_table(catalog, "ods.b")] == ["5"]


def test_what_cannot_be_read_says_what_to_do(mongo: MongoServer, catalog: pm.Catalog) -> None:
    mongo.insert("shop.a", {"_id": 1})
    _run(catalog, _source(mongo))
    mongo.insert("shop.a", {"_id": 2})
    mongo.lost = len(mongo.oplog)
    with pytest.raises(SourceError, match=r"not in the oplog any more: forget the job"):
        _run(catalog, _source(mongo))
    gone = pm.mongodb("127.0.0.1:9", options={"serverSelectionTimeoutMS": "50"})
    with pytest.raises(SourceError, match="cannot be reached"):
        gone.tables(r"shop\.a").tables()
    for name in ("password", "username"):
        with pytest.raises(UnsupportedError, match=f"option '{name}' of MongoDB"):
            pm.mongodb(options={name: "zq"})
    with pytest.raises(ValueError, match="user, options and so on by name"):
        pm.mongodb("cdc:zq@h:1")
    with pytest.raises(UnsupportedError, match="engine = 'spark' from mongodb"):
        catalog.ingest(_source(mongo), into="ods", name="s", engine="spark")


def test_statements_files_and_shells_name_it(
    mongo: MongoServer, catalog: pm.Catalog, tmp_path: Path
) -> None:
    mongo.insert("shop.a", {"_id": 1, "v": "x"})
    named = name_source("m", f"mongodb://{mongo.hosts}/shop?replicaSet=rs0")
    assert named.title == f"mongodb {mongo.hosts}"
    try:
        text = "CREATE TABLE IF NOT EXISTS ods.a WITH ('bucket' = '1') AS TABLE m.shop.a"
        statement = parse_ingest_statement(tokenize(text), text, is_source)
        assert statement is not None
        said = said_job(catalog, statement)
        said.job.run(until="caught-up")
    finally:
        forget_source("m")
    path = tmp_path / "job.yaml"
    path.write_text(
        f"job: {{name: f, into: odf}}\ncatalog: {{warehouse: {tmp_path}/warehouse}}\n"
        f"source: {{type: mongodb, hosts: '{mongo.hosts}', tables: ['shop\\.a'], ids: extended}}\n"
        "options: {bucket: 1}\n"
    )
    job_from_file(path).job.run(until="caught-up")
    words = [
        "ingest",
        catalog.path,
        "mongodb",
        f"{mongo.hosts}/?replicaSet=rs0",
        "--tables",
        r".*a",
    ]
    done = CliRunner().invoke(
        main, [*words, "--into", "shell", "--name", "s", "--option", "bucket=1"]
    )

    assert done.exit_code == 0, done.output
    assert _table(catalog, "shell.a") == _table(catalog, "ods.a")
    assert _table(catalog, "ods.a") == {"1": {"_id": "1", "v": "x"}}
    assert [*_table(catalog, "odf.a")] == ['{"$numberInt":"1"}']
