from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import CorruptDataError, SchemaError, UnsupportedError
from paimonlab.spark import connect as connect_spark
from paimonlab.spark.reading.frames import CUT_TIMESTAMPS_KEY
from paimonlab.spark.reading.mask_source import DRIVER_ROWS_KEY
from paimonlab.table.table import Table
from tests.spark.plans import physical_plan


@pytest.fixture
def setting(spark: SparkSession) -> Iterator[Any]:
    """Return a function that sets a conf of the session until the test ends."""
    before: dict[str, str | None] = {}

    def set_conf(key: str, value: str) -> None:
        before.setdefault(key, spark.conf.get(key, None))
        spark.conf.set(key, value)

    yield set_conf
    for key, value in before.items():
        if value is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, value)


def agree(spark: SparkSession, table: Table, order: str, **travel: Any) -> list[dict[str, Any]]:
    """Check that Spark and our own reader return the same rows, and return them."""
    clause = f" VERSION AS OF {travel['snapshot']}" if travel else ""
    found = spark.sql(f"SELECT * FROM paimon.{table.name}{clause} ORDER BY {order}").toArrow()
    expected = (
        table.scan(**travel).to_arrow().sort_by([(c, "ascending") for c in order.split(", ")])
    )
    assert found.to_pylist() == expected.to_pylist()
    return found.to_pylist()


def random_upserts(catalog: Catalog, rng: np.random.Generator, commits: int) -> Table:
    table = catalog.create_table(
        "db.u",
        {"k": "BIGINT NOT NULL", "p": "INT NOT NULL", "v": "DOUBLE", "s": "STRING"},
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"bucket": "2", "write-only": "true"},
    )
    for _ in range(commits):
        keys = rng.choice(200, 120, replace=False)
        table.write(
            pa.table(
                {
                    "k": keys,
                    "p": pa.array(keys % 3, pa.int32()),
                    "v": rng.random(120),
                    "s": [None if v < 0.2 else f"é{v}" for v in rng.random(120)],
                    "kind": pa.array(rng.choice([0, 2, 3], 120, p=[0.5, 0.2, 0.3]), pa.int8()),
                }
            ),
            row_kinds="kind",
        )
    return table


def test_merged_rows_are_those_of_our_reader_at_every_snapshot(
    catalog: Catalog, spark: SparkSession, rng: np.random.Generator
) -> None:
    table = random_upserts(catalog, rng, 5)

    agree(spark, table, "k")
    for snapshot in table.snapshots.list():
        agree(spark, table, "k", snapshot=snapshot.id)


def test_masks_computed_by_executors_are_the_same(
    catalog: Catalog, spark: SparkSession, rng: np.random.Generator, setting: Any
) -> None:
    table = random_upserts(catalog, rng, 3)
    setting(DRIVER_ROWS_KEY, "10")

    agree(spark, table, "k")


def test_without_vectors_our_reader_reads_overlapping_files(
    catalog: Catalog, spark: SparkSession, rng: np.random.Generator, setting: Any
) -> None:
    table = random_upserts(catalog, rng, 3)
    setting("spark.sql.codegen.maxFields", "5")

    agree(spark, table, "k")
    frame = spark.sql("SELECT s FROM paimon.db.u WHERE v > 0.5 AND p = 1")
    plan = physical_plan(frame)
    assert "Python" in plan
    assert "columns: [s, v, p]" in plan or "columns: [p, v, s]" in plan
    expected = table.scan(["s"], "v > 0.5 AND p = 1").to_arrow()
    assert sorted(map(str, frame.toArrow()["s"].to_pylist())) == sorted(
        map(str, expected["s"].to_pylist())
    )


def test_parts_of_a_file_keep_their_positions(
    catalog: Catalog, spark: SparkSession, rng: np.random.Generator, setting: Any
) -> None:
    table = catalog.create_table(
        "db.parts",
        {"k": "BIGINT NOT NULL", "v": "DOUBLE"},
        primary_keys=["k"],
        options={"bucket": "1", "write-only": "true", "file.block-size": "64 kb"},
    )
    for _ in range(2):
        keys = rng.choice(60_000, 40_000, replace=False)
        table.write(pa.table({"k": keys, "v": rng.random(40_000)}))
    setting("spark.sql.files.maxPartitionBytes", "100kb")
    setting("spark.sql.files.openCostInBytes", "0")

    frame = spark.table("paimon.db.parts")

    assert frame.rdd.getNumPartitions() > 4
    agree(spark, table, "k")
    where = "v > 0.9 AND k > 30000"
    assert frame.where(where).count() == table.scan(where=where).count()


@pytest.mark.parametrize("name", ["_metadata", "__paimon_winners", "__paimon_bucket"])
def test_a_column_with_a_name_that_spark_or_we_use(
    catalog: Catalog, spark: SparkSession, name: str
) -> None:
    table = catalog.create_table(
        "db.names",
        {"k": "INT NOT NULL", name: "STRING"},
        primary_keys=["k"],
        options={"bucket": "1", "write-only": "true"},
    )
    for value in ("old", "new"):
        table.write(pa.table({"k": pa.array([1], pa.int32()), name: [value]}))

    assert [tuple(row) for row in spark.sql("SELECT * FROM paimon.db.names").collect()] == [
        (1, "new")
    ]
    if name == "__paimon_bucket":
        with pytest.raises(UnsupportedError, match=name):
            spark.sql("INSERT INTO paimon.db.names VALUES (1, 'newer')")


def test_the_session_sets_options_for_reads(
    catalog: Catalog, spark: SparkSession, setting: Any
) -> None:
    table = catalog.create_table("db.o", {"a": "INT"})
    for value in (1, 2):
        table.write(pa.table({"a": pa.array([value], pa.int32())}))

    def count() -> int:
        return int(spark.sql("SELECT count(*) FROM paimon.db.o").collect()[0][0])

    setting("spark.paimon.paimon.db.other.scan.snapshot-id", "1")
    assert count() == 2
    setting("spark.paimon.paimon.*.o.scan.snapshot-id", "1")
    assert count() == 1
    setting("spark.paimon.scan.snapshot-idd", "1")
    with pytest.raises(SchemaError, match=r"scan\.snapshot-id"):
        count()


def test_a_table_without_snapshot_is_empty(catalog: Catalog, spark: SparkSession) -> None:
    catalog.create_table("db.e", {"a": "INT", "b": "ARRAY<STRING>", "t": "TIMESTAMP(9)"})

    assert spark.sql("SELECT * FROM paimon.db.e").collect() == []
    assert spark.sql("SELECT count(*), max(a) FROM paimon.db.e").collect()[0][0] == 0


def test_a_file_whose_rows_are_all_deleted_is_not_read(
    catalog: Catalog, spark: SparkSession
) -> None:
    table = catalog.create_table(
        "db.d",
        {"id": "INT NOT NULL"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "kind": ["+I", "+I"]})
    table.write(rows, row_kinds="kind")
    table.write(rows.set_column(1, "kind", pa.array(["-D", "-D"])), row_kinds="kind")

    assert spark.sql("SELECT * FROM paimon.db.d").collect() == []


def test_a_new_commit_is_seen_by_the_next_query(catalog: Catalog, spark: SparkSession) -> None:
    table = catalog.create_table("db.n", {"a": "INT"})
    counts = []
    for _ in range(3):
        table.write(pa.table({"a": pa.array([1], pa.int32())}))
        counts.append(spark.sql("SELECT count(*) FROM paimon.db.n").collect()[0][0])

    assert counts == [1, 2, 3]


def test_a_table_made_anew_under_an_old_name_is_not_mistaken(
    catalog: Catalog, spark: SparkSession
) -> None:
    for value in (1, 2):
        table = catalog.create_table("db.again", {"a": "INT"})
        table.write(pa.table({"a": pa.array([value], pa.int32())}))
        assert spark.sql("SELECT a FROM paimon.db.again").collect()[0][0] == value
        catalog.drop_table("db.again")


def test_special_characters_in_partitions_and_columns(
    catalog: Catalog, spark: SparkSession
) -> None:
    names = ["a b", "ü`x", "50%", "a/b", "x=y:z", "#?&", "2024-01-01 00:00:00", "%20", "", None]
    table = catalog.create_table(
        "db.special",
        {"p q": "STRING", "the `v`": "INT"},
        partition_keys=["p q"],
    )
    values = list(range(len(names)))
    table.write(pa.table({"p q": names, "the `v`": pa.array(values, pa.int32())}))

    found = spark.sql("SELECT * FROM paimon.db.special ORDER BY `the ``v```").collect()
    one = spark.sql("SELECT `the ``v``` FROM paimon.db.special WHERE `p q` = '50%'").collect()

    assert [row[0] for row in found] == table.scan().to_arrow().sort_by("the `v`")[
        "p q"
    ].to_pylist()
    assert [row[0] for row in one] == [2]
    spark.sql("INSERT INTO paimon.db.special VALUES ('`', 99)")
    assert table.scan(where="`the ``v``` = 99").to_arrow().to_pylist() == [
        {"p q": "`", "the `v`": 99}
    ]


TIMES = [
    dt.datetime(2024, 3, 31, 2, 30, 0, 123456),  # an hour that Berlin skips
    dt.datetime(1582, 10, 10, 0, 0, 0, 1),  # a day that the Julian calendar has otherwise
    dt.datetime(1, 1, 1),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
    None,
]


@pytest.mark.parametrize("precisions", [(3, 6), (6, 9)], ids=["int64", "int96"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kathmandu"])
def test_timestamps_do_not_shift_with_the_zone(
    catalog: Catalog, spark: SparkSession, setting: Any, zone: str, precisions: tuple[int, int]
) -> None:
    low, high = precisions
    table = catalog.create_table(
        "db.ts",
        {
            "i": "INT",
            "a": f"TIMESTAMP({low})",
            "b": f"TIMESTAMP({high})",
            "c": f"TIMESTAMP({low}) WITH LOCAL TIME ZONE",
            "d": f"TIMESTAMP({high}) WITH LOCAL TIME ZONE",
            "e": "DATE",
        },
    )
    cut = [t and t.replace(microsecond=t.microsecond // 1000 * 1000) for t in TIMES]
    lower = cut if low == 3 else TIMES
    days = [t and t.date() for t in TIMES]
    instants = [t and t.replace(tzinfo=dt.UTC) for t in TIMES]
    low_instants = [t and t.replace(tzinfo=dt.UTC) for t in lower]
    table.write(
        pa.table(
            {
                "i": pa.array(range(len(TIMES)), pa.int32()),
                "a": pa.array(lower, pa.timestamp("us")),
                "b": pa.array(TIMES, pa.timestamp("us")),
                "c": pa.array(low_instants, pa.timestamp("us", "UTC")),
                "d": pa.array(instants, pa.timestamp("us", "UTC")),
                "e": pa.array(days, pa.date32()),
            }
        )
        if high == 6
        else pa.table(
            {
                "i": pa.array([0, 3], pa.int32()),
                **{
                    name: pa.array([values[0], values[3]], type_)
                    for name, values, type_ in (
                        ("a", lower, pa.timestamp("us")),
                        ("b", TIMES, pa.timestamp("us")),
                        ("c", low_instants, pa.timestamp("us", "UTC")),
                        ("d", instants, pa.timestamp("us", "UTC")),
                        ("e", days, pa.date32()),
                    )
                },
            }
        )
    )
    chosen = range(len(TIMES)) if high == 6 else [0, 3]
    setting("spark.sql.session.timeZone", zone)

    for cuts in ("false", "true"):
        setting(CUT_TIMESTAMPS_KEY, cuts)
        found = spark.sql("SELECT * FROM paimon.db.ts ORDER BY i").toArrow()
        assert found["a"].to_pylist() == [lower[i] for i in chosen]
        assert found["b"].to_pylist() == [TIMES[i] for i in chosen]
        micros = [
            t and (t - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1) for t in TIMES
        ]
        assert found["d"].cast(pa.int64()).to_pylist() == [micros[i] for i in chosen]
        assert found["c"].cast(pa.timestamp("us", "UTC")).to_pylist() == [
            low_instants[i] for i in chosen
        ]
        assert found["e"].to_pylist() == [days[i] for i in chosen]


def test_digits_below_a_microsecond_are_refused_unless_asked_for(
    catalog: Catalog, spark: SparkSession, setting: Any
) -> None:
    table = catalog.create_table("db.nano", {"i": "INT", "fine": "TIMESTAMP(9)"})
    nanos = pa.array([1_000_000_001], pa.int64()).cast(pa.timestamp("ns"))
    table.write(pa.table({"i": pa.array([1], pa.int32()), "fine": nanos}))

    with pytest.raises(UnsupportedError, match=r"'fine'.*cut-to-micros"):
        spark.sql("SELECT fine FROM paimon.db.nano").collect()
    assert spark.sql("SELECT i FROM paimon.db.nano").collect()[0][0] == 1
    setting(CUT_TIMESTAMPS_KEY, "true")
    assert spark.sql("SELECT fine FROM paimon.db.nano").collect()[0][0] == dt.datetime(
        1970, 1, 1, 0, 0, 1
    )


def test_all_types_that_spark_has(catalog: Catalog, spark: SparkSession) -> None:
    row = {
        "b": True,
        "i1": -128,
        "i2": -32768,
        "i4": -(2**31),
        "i8": 2**63 - 1,
        "f": 1.5,
        "d": float("-inf"),
        "d9": Decimal("-1234567.89"),
        "d18": Decimal(123456789012345678),
        "d38": Decimal("-99999999999999999999999999999999.999999"),
        "c": "ab   ",
        "vc": "äöü",
        "s": "",
        "by": b"\x00\xff",
        "da": dt.date(2024, 2, 29),
        "ar": [1, None, 3],
        "m": [("k", 1.5), ("l", None)],
        "r": {"x": 1, "y": [{"z": "deep"}]},
    }
    types = {
        "b": "BOOLEAN",
        "i1": "TINYINT",
        "i2": "SMALLINT",
        "i4": "INT",
        "i8": "BIGINT",
        "f": "FLOAT",
        "d": "DOUBLE",
        "d9": "DECIMAL(9, 2)",
        "d18": "DECIMAL(18, 0)",
        "d38": "DECIMAL(38, 6)",
        "c": "CHAR(5)",
        "vc": "VARCHAR(3)",
        "s": "STRING",
        "by": "BYTES",
        "da": "DATE",
        "ar": "ARRAY<INT>",
        "m": "MAP<STRING, DOUBLE>",
        "r": "ROW<x INT, y ARRAY<ROW<z STRING>>>",
    }
    table = catalog.create_table("db.all", types)
    rows = [dict.fromkeys(row) | {"i8": 0}, row]
    table.write(pa.Table.from_pylist(rows, schema=table.arrow_schema))

    agree(spark, table, "i8")


def test_a_damaged_file_is_an_error_that_names_it(
    catalog: Catalog, spark: SparkSession, warehouse: Path
) -> None:
    table = catalog.create_table("db.bad", {"a": "BIGINT"})
    table.write(pa.table({"a": np.random.default_rng(1).integers(0, 2**60, 5000)}))
    (file,) = warehouse.glob("db.db/bad/bucket-0/*.parquet")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)

    with pytest.raises(CorruptDataError, match="CRC checksum") as caught:
        spark.sql("SELECT sum(a) FROM paimon.db.bad").collect()
    assert file.name in str(caught.value)
    assert "referred to by db.bad" in str(caught.value)


def test_a_missing_file_is_an_error_that_names_it(
    catalog: Catalog, spark: SparkSession, warehouse: Path, setting: Any
) -> None:
    table = catalog.create_table("db.gone", {"a": "BIGINT"})
    table.write(pa.table({"a": [1, 2]}))
    (file,) = warehouse.glob("db.db/gone/bucket-0/*.parquet")
    file.unlink()
    setting("spark.sql.files.ignoreMissingFiles", "true")

    with pytest.raises(CorruptDataError, match="does not exist") as caught:
        spark.sql("SELECT sum(a) FROM paimon.db.gone").collect()
    assert file.name in str(caught.value)


def test_queries_of_several_threads_agree(
    catalog: Catalog, spark: SparkSession, rng: np.random.Generator
) -> None:
    table = random_upserts(catalog, rng, 3)
    expected = table.scan().count()

    def count(_: int) -> int:
        return int(spark.sql("SELECT count(*) FROM paimon.db.u").collect()[0][0])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, range(8))) == [expected] * 8


def test_links_out_of_a_table_are_read_only_where_that_was_asked_for(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    table = catalog.create_table("db.t", {"k": "INT"})
    table.write(pa.table({"k": pa.array([1, 2], pa.int32())}))
    folder = Path(table.path)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    assert spark.sql("SELECT sum(k) FROM paimon.db.t").collect() == [(3,)]

    (file,) = folder.rglob("*.parquet")
    file.rename(tmp_path / "outside.parquet")
    file.symlink_to(tmp_path / "outside.parquet")
    with pytest.raises(Exception, match="a link that leads out of"):
        spark.sql("SELECT k FROM paimon.db.t WHERE k > 1").collect()

    warehouse = {"warehouse": catalog.path, "follow-links": "true"}
    connect_spark(warehouse, catalog="trusting", spark=spark)
    assert spark.sql("SELECT sum(k) FROM trusting.db.t").collect() == [(3,)]


@pytest.mark.parametrize("source", ["parquet", "csv", "json", "orc", "text"])
def test_files_are_read_by_their_path_while_the_catalog_is_current(
    catalog: Catalog, spark: SparkSession, tmp_path: Path, source: str
) -> None:
    path = tmp_path / "a folder$with.dots" / f"rows.{source}"
    spark.sql("SELECT 'x' AS value").write.format(source).save(str(path))
    current = spark.catalog.currentCatalog()
    spark.sql("USE paimon.db")
    try:
        assert spark.sql(f"SELECT * FROM {source}.`{path}`").collect() == [("x",)]
        assert spark.sql(f"SELECT * FROM {source}.`file:{path}`").collect() == [("x",)]
        with pytest.raises(AnalysisException, match="PATH_NOT_FOUND"):
            spark.sql(f"SELECT * FROM {source}.`{path}.not`")
    finally:
        spark.catalog.setCurrentCatalog(current)


def test_a_name_that_no_table_can_have_is_one_that_is_not_there(
    catalog: Catalog, spark: SparkSession
) -> None:
    for name in ("`a/b`", "`t$a$b$c`", "`x:y`"):
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
            spark.sql(f"SELECT * FROM paimon.db.{name}")
        assert not spark.catalog.tableExists(f"paimon.db.{name}")
    with pytest.raises(SchemaError, match="cannot be the name of a table"):
        spark.sql("CREATE TABLE paimon.db.`a/b` (id INT)")


@pytest.mark.parametrize("primary_keys", [[], ["id"]], ids=["append", "keyed"])
def test_files_that_are_lost_or_damaged_are_left_out_where_a_session_says_so(
    primary_keys: list[str], spark: SparkSession, catalog: Catalog
) -> None:
    options = {"bucket": "1", "bucket-key": "id", "write-only": "true"}
    columns = {"id": "INT NOT NULL", "v": "STRING"}
    table = catalog.create_table("db.t", columns, primary_keys=primary_keys, options=options)
    for key, value in ((1, "a"), (2, "b"), (1, "c"), (3, "d")):
        table.write([{"id": key, "v": value}])
    files = sorted(Path(table.path).rglob("data-*"), key=lambda path: path.stat().st_mtime_ns)
    damaged, lost = files[2:]
    damaged.write_bytes(b"corrupt file")
    lost.unlink()
    lenient = [f"spark.paimon.scan.ignore-{kind}-files" for kind in ("corrupt", "lost")]
    try:
        spark.conf.set(lenient[0], "true")
        with pytest.raises(CorruptDataError, match=lost.name):
            spark.sql("SELECT * FROM paimon.db.t").collect()
        spark.conf.set(lenient[1], "true")
        found = spark.sql("SELECT *, count(*) OVER () FROM paimon.db.t ORDER BY id").collect()
        (count,) = spark.sql("SELECT count(*) FROM paimon.db.t").collect()
        spark.conf.unset(lenient[1])
        reading = spark.read.option("scan.ignore-lost-files", "true")
        if spark.version < "4.3":
            with pytest.raises(UnsupportedError, match=f"SET {lenient[1]}"):
                reading.table("paimon.db.t")
        else:
            spark.conf.set("spark.paimon.scan.snapshot-id", "1")
            of_session = reading.table("paimon.db.t")
            spark.conf.unset("spark.paimon.scan.snapshot-id")
            frames = [of_session, reading.table("paimon.db.t")]
            frames.append(reading.option("scan.version", "4").table("paimon.db.t"))
            assert [frame.count() for frame in frames] == [1, 2, 2]
    finally:
        for name in lenient:
            spark.conf.unset(name)

    assert [tuple(row) for row in found] == [(1, "a", 2), (2, "b", 2)]
    assert count[0] == 2
