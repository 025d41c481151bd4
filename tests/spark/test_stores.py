"""Spark on warehouses in object stores: executors reach them, and nothing shows the keys.

The store is moto behind a proxy that keeps who signed which request. Spark here has no module for
S3: files can only be read and written by our reader and writer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.catalog.rest.wire import TokenAnswer
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.errors import UnsupportedError
from paimonlab.spark import connect
from paimonlab.spark.reading.data_source import PaimonSource
from tests.ingest.parted_log import PARTS, PartedLog
from tests.secret_options import MARK
from tests.spark.shown import executions_of, shown
from tests.storage.stores.proxy import Proxy, proxy_of
from tests.storage.stores.server import ServerMissingError, make_bucket, running

pytestmark = pytest.mark.usefixtures("interpreted")

pytest.importorskip("obstore")
_LINE = '{"op":"c","before":null,"after":{"id":"%s","v":"%s"},"source":{"db":"d","table":"t"}}'
TOKEN_SECONDS = 2
"""Tokens of files live so long: they are renewed while the tests run."""


class Store:
    """A store, and what it was asked."""

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy
        self.put: list[str] = []
        """Keys of files that were written, each with who signed the request."""
        proxy.choose = self._note
        self._kept = 0

    def _note(self, method: str, path: str, _: bool) -> None:
        self._kept += 1
        if method in ("PUT", "POST"):
            self.put.append(path)

    @property
    def signers(self) -> set[str]:
        """Return the keys that requests were signed with."""
        return {one.partition("Credential=")[2].partition("/")[0] for one in self.proxy.signatures}

    def options(self, **keys: str) -> dict[str, str]:
        """Return catalog options."""
        named = {f"s3.{key.replace('_', '-')}": value for key, value in keys.items()}
        return {"warehouse": "s3://lake/w", "s3.endpoint": self.proxy.url, **named}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    try:
        with running(tmp_path_factory.mktemp("moto") / "log") as url, proxy_of(url) as proxy:
            make_bucket(url, "lake")
            yield Store(proxy)
    except ServerMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", autouse=True)
def before(spark: SparkSession) -> int:
    """Return the number of the last statement before there was a key; -1: there was none."""
    return max((one.executionId() for one in executions_of(spark)[-1:]), default=-1)


@pytest.fixture(scope="module")
def lake(spark: SparkSession, store: Store) -> pl.Catalog:
    """Put a catalog in the store into the session, with keys among its options."""
    options = store.options(access_key=f"AK{MARK}", secret_key=f"SK{MARK}")
    connect(options, catalog="lake", spark=spark)
    return pl.connect(options)


@pytest.fixture(scope="module")
def tokens(lake: pl.Catalog, store: Store, spark: SparkSession) -> Iterator[list[str]]:
    """Serve that catalog with tokens for files; return the names of tables they were made for."""
    made: list[str] = []

    def vend(catalog: pl.Catalog, request: object, database: str, name: str) -> TokenAnswer:
        del catalog, request
        made.append(f"{database}.{name}")
        number = len(made)
        token = {
            "s3.access-key": f"VENDED{number}{MARK}",
            "s3.secret-key": f"S{number}{MARK}",
            "s3.session-token": f"T{number}{MARK}",
        }
        expires = time.time_ns() // 1_000_000 + TOKEN_SECONDS * 1000
        return TokenAnswer(token=token, expires_at_millis=expires)

    told = {"data-token.enabled": "true", "s3.endpoint": store.proxy.url}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paimonlab.catalog.rest_server.service._no_tokens", vend)
        server = Server(lake, [User(name="me", token=f"B{MARK}")], ServeOptions(defaults=told))
        with server as running_server:
            connect(running_server.options, catalog="vended", spark=spark)
            yield made


def rows(spark: SparkSession, query: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


def live(spark: SparkSession, name: str, checkpoint: Path) -> list[str]:
    """Insert, merge, read and stream; return what EXPLAIN says on the way."""
    table = f"{name}.t"
    spark.sql(f"CREATE DATABASE {name}")
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT NOT NULL, v STRING) "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2', 'changelog-producer' = 'input')"
    )
    model = {number: f"v{number}" for number in range(60)}
    spark.sql(f"INSERT INTO {table} SELECT id, concat('v', id) FROM range(60)")
    merge = (
        f"MERGE INTO {table} t USING (SELECT id * 2 AS id FROM range(20, 40)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = 'merged' "
        "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 'new')"
    )
    said = [plan_of(spark, merge), plan_of(spark, f"SELECT v FROM {table} WHERE id > 7")]
    spark.sql(merge)
    for number in range(40, 80, 2):
        model[number] = "merged" if number < 60 else "new"
    assert rows(spark, f"SELECT * FROM {table}") == sorted(model.items())

    spark.sql(f"CREATE TABLE {name}.copy (id BIGINT, v STRING) TBLPROPERTIES ('bucket' = '-1')")
    stream = spark.readStream.option("scan.mode", "latest-full").table(table)
    writing = stream.writeStream.trigger(availableNow=True)
    query = writing.option("checkpointLocation", str(checkpoint)).toTable(f"{name}.copy")
    query.awaitTermination()
    assert query.exception() is None
    said += [str(query.lastProgress)]
    assert rows(spark, f"SELECT * FROM {name}.copy") == sorted(model.items())
    return said


def plan_of(spark: SparkSession, statement: str) -> str:
    return str(spark.sql(f"EXPLAIN EXTENDED {statement}").collect()[0][0])


def test_jobs_read_changes_into_a_store(lake: pl.Catalog, tmp_path: Path) -> None:
    """Notes, epochs and files of a job are in the store, whichever engine goes on."""
    log = PartedLog(tmp_path / "log")
    wanted: dict[str, str] = {}
    for step, engine in enumerate(("spark", "native", "spark")):
        for part in range(PARTS):
            keys = [str(one) for one in range(step, step + 6) if one % PARTS == part]
            log.add(part, [_LINE % (key, f"v{step}") for key in keys])
            wanted |= dict.fromkeys(keys, f"v{step}")
        told: Any = {"engine": engine, "primary_keys": ["id"], "options": {"bucket": "1"}}
        job = lake.ingest(log, into="ods", name="changes", **told)
        assert job.run(until="caught-up").rows == 6 * (step + 1)

    found = lake.table("ods.t").scan().to_arrow()
    pairs = zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True)
    assert dict(pairs) == wanted
    assert found.num_rows == len(wanted)


def test_executors_read_and_write_a_store_with_keys_of_the_options(
    spark: SparkSession, before: int, lake: pl.Catalog, store: Store, tmp_path: Path
) -> None:
    said = live(spark, "lake.own", tmp_path / "checkpoint")

    assert "by Python" in said[1], "EXPLAIN tells who reads"
    assert store.signers == {f"AK{MARK}"}
    assert any("/bucket-0/data-" in path for path in store.put)
    assert lake.table("own.t").scan().count() == 70
    assert MARK not in "".join(said)
    assert_shows_none(spark, before, tmp_path / "checkpoint")


def test_executors_ask_a_server_for_tokens_of_their_own(
    spark: SparkSession, before: int, tokens: list[str], store: Store, tmp_path: Path
) -> None:
    store.proxy.signatures.clear()
    said = live(spark, "vended.more", tmp_path / "checkpoint")

    vended = {signer for signer in store.signers if signer.startswith("VENDED")}
    assert len(vended) > 2, "tokens of the driver, of executors, and those that were renewed"
    assert set(tokens) == {"more.t", "more.copy"}
    assert MARK not in "".join(said)
    assert_shows_none(spark, before, tmp_path / "checkpoint")


def assert_shows_none(spark: SparkSession, before: int, checkpoint: Path) -> None:
    assert MARK not in shown(spark, before)
    kept = [path for path in checkpoint.rglob("*") if path.is_file()]
    assert kept
    assert not any(MARK.encode() in path.read_bytes() for path in kept)


def test_a_task_that_fails_names_the_file_and_no_key(
    spark: SparkSession, before: int, lake: pl.Catalog
) -> None:
    lake.create_database("lost")
    table = lake.create_table("lost.t", {"id": "INT"})
    table.write([{"id": 1}])
    folder = f"{table.path}/bucket-0"
    [name] = lake.file_io.list_names(folder)
    lake.file_io.delete(f"{folder}/{name}")

    with pytest.raises(Exception, match=name) as raised:
        spark.sql("SELECT * FROM lake.lost.t").collect()
    assert MARK not in str(raised.value)
    assert MARK not in shown(spark, before)


def test_a_path_is_read_with_keys_of_the_environment(
    lake: pl.Catalog, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.create_database("path")
    lake.create_table("path.t", {"id": "INT"}).write([{"id": 7}])
    keys = {"AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "S"}
    for name, value in {**keys, "AWS_ENDPOINT_URL": store.proxy.url}.items():
        monkeypatch.setenv(name, value)
    source = PaimonSource({"path": "s3://lake/w/path.db/t"})
    reader = source.reader(source.schema())
    [part] = reader.partitions()
    assert pa.Table.from_batches(list(reader.read(part))).to_pylist() == [{"id": 7}]
    with pytest.raises(UnsupportedError, match="a table is in the folder of its database"):
        PaimonSource({"path": "s3://lake/w/t"}).schema()
