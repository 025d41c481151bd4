"""Format tables in Spark, through a server that keeps them.

``PAIMONLAB_FORMATS=1`` goes through all formats where one is looked at else.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.catalog.format_tables import FormatTableCatalog
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.errors import NotFoundError, SchemaError, UnsupportedError
from paimonlab.spark import connect
from paimonlab.storage import LocalFileIO
from paimonlab.table.format_tables.format_table import FormatTable
from paimonlab.table.format_tables.writing import remove_attempts
from tests.catalog.kept import KeepingCatalog
from tests.spark.plans import pieces_read

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> KeepingCatalog:
    folder = tmp_path_factory.mktemp("format_tables") / "warehouse"
    made = KeepingCatalog(str(folder), LocalFileIO())
    made.create_database("db")
    return made


@pytest.fixture(scope="module")
def server(spark: SparkSession, served: KeepingCatalog) -> Iterator[Server]:
    with Server(served, [User(name="me", token="a-token")], ServeOptions()) as running:
        connect(running.options, catalog="served", spark=spark)
        yield running


@pytest.fixture
def sql(spark: SparkSession, server: Server) -> Iterator[Any]:
    """Run statements with the database current; what they create is dropped afterwards."""
    spark.sql("USE served.db")

    def run(text: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in spark.sql(text).collect()]

    yield run
    spark.sql("USE spark_catalog.default")
    catalog = pl.connect(server.options)
    assert isinstance(catalog, FormatTableCatalog)
    for name in catalog.format_tables("db"):
        catalog.drop_table(f"db.{name}")


def ours(server: Server, name: str = "t") -> FormatTable:
    catalog = pl.connect(server.options)
    assert isinstance(catalog, FormatTableCatalog)
    return catalog.format_table(f"db.{name}")


EVERY = [("parquet", "zstd"), ("csv", "gzip"), ("json", "gzip"), ("orc", "zlib")]


@pytest.mark.parametrize(
    ("file_format", "compression"), EVERY if os.environ.get("PAIMONLAB_FORMATS") else EVERY[:1]
)
def test_rows_of_partitions_are_written_and_read(
    sql: Any, server: Server, file_format: str, compression: str
) -> None:
    sql(
        f"CREATE TABLE t (id INT, name STRING, value DOUBLE, at TIMESTAMP_NTZ) USING {file_format} "
        "PARTITIONED BY (dept STRING, n INT) COMMENT 'ours' "
        f"TBLPROPERTIES ('file.compression' = '{compression}')"
    )
    sql(
        "INSERT INTO t VALUES "
        "(1, 'Alice, \"A\"', 10.5, TIMESTAMP_NTZ '2024-01-02 03:04:05', 'x', 1), "
        "(2, 'Bob', 20.7, NULL, 'x', 2), (3, NULL, NULL, NULL, NULL, NULL)"
    )

    assert sql("SELECT id, name, value FROM t WHERE dept = 'x' AND value > 15") == [
        (2, "Bob", 20.7)
    ]
    assert sql("SELECT count(*) FROM t") == [(3,)]
    assert sql("SELECT n FROM t WHERE id = 3") == [(None,)]
    assert sql("SHOW PARTITIONS t PARTITION (dept = 'x')") == [
        ("dept=x/n=1",),
        ("dept=x/n=2",),
    ]
    assert sql("SHOW PARTITIONS t")[0] == ("dept=null/n=null",)
    table = ours(server)
    assert table.format == file_format
    assert {row["id"]: row["name"] for row in table.to_arrow().to_pylist()} == {
        1: 'Alice, "A"',
        2: "Bob",
        3: None,
    }
    described = dict(row[:2] for row in sql("DESCRIBE EXTENDED t"))
    assert described["Provider"] == file_format
    created = sql("SHOW CREATE TABLE t")[0][0]
    assert f"USING {file_format}" in created
    assert "PARTITIONED BY (dept, n)" in created
    assert ("db", "t", False) in sql("SHOW TABLES")


def test_partitions_are_replaced(spark: SparkSession, sql: Any, server: Server) -> None:
    sql("CREATE TABLE t (age INT, name STRING) USING csv PARTITIONED BY (id INT, k STRING)")
    sql("INSERT INTO t PARTITION (id = 1, k = 'a') VALUES (5, 'Ben'), (7, 'Larry')")
    sql("INSERT OVERWRITE t PARTITION (id = 1, k = 'a') VALUES (5, 'Jerry'), (7, 'Tom')")
    sql("INSERT INTO t PARTITION (id = 3, k = 'a') VALUES (5, 'Alice')")
    assert sql("SELECT id, age, name FROM t ORDER BY id, age") == [
        (1, 5, "Jerry"),
        (1, 7, "Tom"),
        (3, 5, "Alice"),
    ]

    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        sql("INSERT OVERWRITE t VALUES (6, 'Eve', 3, 'b'), (1, 'Tim', 1, 'a')")
        assert sorted(sql("SELECT id, k, name FROM t")) == [
            (1, "a", "Tim"),
            (3, "a", "Alice"),
            (3, "b", "Eve"),
        ]
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")

    sql("INSERT OVERWRITE t PARTITION (id = 3, k) SELECT 9, 'New', 'c'")
    assert sorted(sql("SELECT id, k, name FROM t")) == [(1, "a", "Tim"), (3, "c", "New")]
    sql("INSERT OVERWRITE t PARTITION (id = 8, k = 'z') SELECT 1, 'x' WHERE false")
    assert (Path(ours(server).path) / "id=8" / "k=z").is_dir()
    sql("TRUNCATE TABLE t PARTITION (id = 3, k = 'c')")
    assert sql("SELECT id FROM t") == [(1,)]
    sql("ALTER TABLE t ADD PARTITION (id = 4, k = 'n')")
    sql("ALTER TABLE t DROP PARTITION (id = 1, k = 'a')")
    # Folders stay that are empty now, as in Java.
    assert [row[0] for row in sql("SHOW PARTITIONS t")] == [
        *("id=3/k=a", "id=3/k=b", "id=3/k=c", "id=4/k=n", "id=8/k=z")
    ]
    sql("INSERT OVERWRITE t VALUES (5, 'Jerry', 1, 'q')")
    assert sql("SELECT id, k FROM t") == [(1, "q")]
    sql("TRUNCATE TABLE t")
    assert sql("SELECT * FROM t") == []


def test_an_unpartitioned_table_is_replaced_also_by_no_rows(sql: Any, server: Server) -> None:
    sql("CREATE TABLE t (age INT, name STRING) USING csv")
    sql("INSERT INTO t VALUES (5, 'Ben'), (7, 'Larry')")
    sql("INSERT OVERWRITE t VALUES (5, 'Jerry'), (7, 'Tom')")
    assert sorted(sql("SELECT * FROM t")) == [(5, "Jerry"), (7, "Tom")]
    sql("INSERT OVERWRITE t SELECT * FROM t WHERE age = 7")
    assert sql("SELECT * FROM t") == [(7, "Tom")]
    sql("INSERT OVERWRITE t SELECT * FROM t WHERE false")
    assert sql("SELECT * FROM t") == []
    assert [one.name for one in Path(ours(server).path).iterdir()] == ["_overwrites"]
    own = "spark_catalog.default.of_spark"  # which stays Spark's own business
    sql(f"CREATE TABLE {own} (id INT, dt STRING) USING parquet PARTITIONED BY (dt)")
    sql(f"INSERT OVERWRITE {own} PARTITION (dt) SELECT 1 AS id, '2026-07-01' AS dt")
    assert sql(f"SELECT * FROM {own}") == [(1, "2026-07-01")]
    sql(f"DROP TABLE {own}")


def test_lines_of_csv_are_read_as_options_say(sql: Any, server: Server) -> None:
    sql("CREATE TABLE t (f0 INT, f1 INT) USING csv OPTIONS (sep ';')")
    (Path(ours(server).path) / "part-00000.csv").write_text("1;2\n3;4")
    assert sorted(sql("SELECT * FROM t")) == [(1, 2), (3, 4)]
    assert "'csv.field-delimiter' = ';'" in sql("SHOW CREATE TABLE t")[0][0]
    sql(
        "CREATE TABLE m (f0 INT, f1 STRING, f2 INT) USING csv TBLPROPERTIES ('seq' = '|', "
        "'lineSep' = '\\n', 'format-table.implementation' = 'paimon') PARTITIONED BY (ds BIGINT)"
    )
    folder = Path(ours(server, "m").path) / "ds=20250920"
    folder.mkdir()
    (folder / "part-0.csv").write_text("1|asf|aaaa|10\n2|asf|11")
    assert sorted(sql("SELECT * FROM m")) == [
        (1, "asf", None, 20250920),
        (2, "asf", 11, 20250920),
    ]
    sql("ALTER TABLE m SET TBLPROPERTIES ('mode' = 'dropmalformed')")
    assert sql("SELECT * FROM m") == [(2, "asf", 11, 20250920)]
    sql("CREATE TABLE l (age INT, name STRING) USING csv OPTIONS ('lineSep' 'abc')")
    sql("INSERT INTO l VALUES (5, 'ab'), (7, 'Larry')")
    assert sql("SELECT age, name FROM l ORDER BY age") == [(5, "ab"), (7, "Larry")]
    sql(
        "CREATE TABLE o (id INT, v STRING) USING csv TBLPROPERTIES ('csv.field-delimiter' = ';', "
        "'csv.line-delimiter' = '?', 'csv.quote-character' = '%', 'csv.include-header' = 'true', "
        "'csv.null-literal' = 'null', 'csv.mode' = 'permissive', "
        "'format-table.file.compression' = 'gzip')"
    )
    sql("INSERT INTO o SELECT id, id + 1 FROM range(2)")
    sql("INSERT INTO o VALUES (2, null)")
    assert sql("SELECT * FROM o ORDER BY id") == [(0, "1"), (1, "2"), (2, None)]


@pytest.mark.parametrize("file_format", ["json"])
def test_files_that_were_compressed_are_read(sql: Any, server: Server, file_format: str) -> None:
    sql(f"CREATE TABLE t (a INT, b INT, c INT) USING {file_format}")
    sql("INSERT INTO t VALUES (1, 2, 3)")
    (file,) = Path(ours(server).path).iterdir()
    file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    assert sql("SELECT * FROM t") == [(1, 2, 3)]


def test_lines_of_text_are_rows(sql: Any) -> None:
    sql("CREATE TABLE t (v STRING) USING text TBLPROPERTIES ('text.line-delimiter' = '?')")
    sql("INSERT INTO t VALUES ('aaaa'), ('bb?cc'), (null)")
    assert sql("SELECT count(*) FROM t") == [(4,)]
    assert sql("SELECT * FROM t ORDER BY v") == [("",), ("aaaa",), ("bb",), ("cc",)]


def test_partition_columns_may_stand_anywhere_and_folders_be_values_alone(
    sql: Any, server: Server
) -> None:
    sql(
        "CREATE TABLE t (ds BIGINT, age INT, ds1 BIGINT, name STRING, ds2 BIGINT) USING orc "
        "PARTITIONED BY (ds, ds1, ds2)"
    )
    sql("INSERT INTO t VALUES (5, 11, 12, 'ab', 13), (7, 11, 12, 'Larry', 13)")
    assert sql("SELECT ds, age, ds1, name, ds2 FROM t ORDER BY ds") == [
        (5, 11, 12, "ab", 13),
        (7, 11, 12, "Larry", 13),
    ]
    sql(
        "CREATE TABLE v (f0 INT, f1 STRING) USING csv PARTITIONED BY (ds BIGINT) TBLPROPERTIES "
        "('format-table.partition-path-only-value' = 'true')"
    )
    sql("INSERT INTO v VALUES (1, 'asf', 20250920), (2, 'asf', 20250920)")
    assert (Path(ours(server, "v").path) / "20250920").is_dir()
    assert sql("SELECT ds, f0 FROM v WHERE ds = 20250920 ORDER BY f0 LIMIT 1") == [(20250920, 1)]


def test_small_tables_are_broadcast_and_folders_pruned(
    spark: SparkSession, sql: Any, request: pytest.FixtureRequest
) -> None:
    sql("CREATE TABLE t1 (f0 INT) USING parquet PARTITIONED BY (p STRING, q INT)")
    sql("CREATE TABLE t2 (p STRING, q INT, name STRING) USING csv")
    rows = [(i, f"p{i}" if i else None, i % 2) for i in range(5)]
    spark.createDataFrame(rows, "f0 INT, p STRING, q INT").coalesce(1).writeTo("t1").append()
    sql("INSERT INTO t2 VALUES ('p1', 1, 'x'), ('p2', 1, 'x'), ('p3', 1, 'y'), (NULL, 0, 'x')")

    assert spark.table("t1").rdd.getNumPartitions() == spark.sparkContext.defaultParallelism
    alone = ("spark.sql.files.openCostInBytes", str(128 << 20))  # a task reads a file
    spark.conf.set(*alone)
    request.addfinalizer(lambda: spark.conf.unset(alone[0]))
    assert spark.table("t1").rdd.getNumPartitions() == 5
    sql("ALTER TABLE t1 SET TBLPROPERTIES ('source.split.open-file-cost' = '1 b')")
    assert spark.table("t1").rdd.getNumPartitions() == 3  # two and a half files for each core
    of_session = "spark.paimon.source.split.target-size"
    spark.conf.set(of_session, "1 b")
    try:
        assert spark.table("t1").rdd.getNumPartitions() == 5
    finally:
        spark.conf.unset(of_session)
    sql("ALTER TABLE t1 UNSET TBLPROPERTIES ('source.split.open-file-cost')")

    def joined(kind: str, condition: str) -> tuple[int, list[int]]:
        named = "(SELECT * FROM t2 WHERE name = 'x') t2"
        frame = spark.sql(f"SELECT f0 FROM t1 {kind} JOIN {named} ON {condition}")
        found = sorted(row.f0 for row in frame.collect())
        assert "BroadcastHashJoin" in frame._jdf.queryExecution().executedPlan().toString()
        return pieces_read(frame, "db.t1"), found

    assert joined("", "t1.q = 1 AND t1.p = t2.p") == (1, [1])
    assert joined("LEFT SEMI", "t1.q = t2.q AND t1.p = t2.p") == (1, [1])
    assert joined("", "t1.p = t2.p") == (2, [1, 2])
    assert joined("", "t1.p <=> t2.p") == (5, [0, 1, 2])  # Spark asks for no partitions then
    assert spark.sql("SELECT f0 FROM t1 WHERE p = 'p1'").rdd.getNumPartitions() == 1
    either = "(p = 'p1' AND q = 1) OR (p = 'p2' AND q = 1) OR (p = 'p7' AND f0 = 9)"
    assert spark.sql(f"SELECT f0 FROM t1 WHERE {either}").rdd.getNumPartitions() == 1


def test_tables_are_created_with_rows_and_at_places(
    sql: Any, served: KeepingCatalog, tmp_path: Path
) -> None:
    sql("CREATE TABLE t USING json AS SELECT id, 'x' AS v FROM range(3)")
    assert sql("SELECT count(*), min(v) FROM t") == [(3, "x")]
    with pytest.raises(UnsupportedError, match="use CREATE TABLE, then INSERT"):
        sql("CREATE TABLE p USING csv PARTITIONED BY (v) AS SELECT * FROM t")
    folder = tmp_path / "elsewhere"
    with pytest.raises(UnsupportedError, match="where the catalog is served"):
        sql(f"CREATE TABLE e (a INT) USING csv LOCATION '{folder}'")
    served.create_format_table(
        "db.e",
        {"a": "INT", "b": "STRING", "pt": "STRING"},
        file_format="csv",
        partition_keys=["pt"],
        options={"path": str(folder)},
    )
    sql("INSERT INTO e VALUES (1, 'x', 'p1')")
    sql("DROP TABLE e")
    assert len(list((folder / "pt=p1").iterdir())) == 1
    assert [row[1] for row in sql("SHOW TABLES")] == ["t"]


def test_what_has_no_snapshots_cannot_do_is_an_error(
    spark: SparkSession, sql: Any, server: Server
) -> None:
    sql("CREATE TABLE t (id INT, v STRING) USING parquet")
    sql("CREATE TABLE days (day DATE) USING parquet")
    sql("INSERT INTO t VALUES (1, 'a')")
    refused = [
        "DELETE FROM t WHERE id = 1",
        "UPDATE t SET v = 'b'",
        "SELECT * FROM t VERSION AS OF 1",
        "CALL served.sys.compact(table => 'db.t')",
        "ALTER TABLE t CREATE TAG x",
        "ANALYZE TABLE t COMPUTE STATISTICS NOSCAN",
        "ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS id",
        "ALTER TABLE t RENAME COLUMN v TO w",
        "ALTER TABLE t SET TBLPROPERTIES ('file.format' = 'csv')",
        "ALTER TABLE t SET TBLPROPERTIES ('bucket' = '2')",
        "CREATE TABLE u (id INT) USING avro",
        "CREATE TABLE u (id INT, PRIMARY KEY (id)) USING csv",
        "CREATE TABLE u (id INT) USING csv OPTIONS ('csv.quote-character' '')",
        "SELECT * FROM `t$snapshots`",
    ]
    for statement in refused:
        with pytest.raises((UnsupportedError, SchemaError, AnalysisException)):
            sql(statement)
    for statement, said in (
        ("MSCK REPAIR TABLE t", "MSCK REPAIR TABLE of served.db.t.* folders"),
        ("CREATE OR REPLACE TABLE t (id INT) USING parquet", "USING parquet .*DROP TABLE, then"),
        ("LOAD DATA INPATH '/x' INTO TABLE t", "INSERT INTO served.db.t with a query of csv.`/x`"),
        (
            "INSERT INTO days REPLACE WHERE day > DATE '2026-01-02' VALUES (DATE '2026-01-03')",
            "where day > DATE '2026-01-02'",
        ),
    ):
        with pytest.raises(UnsupportedError, match=said):
            sql(statement)
    spark.conf.set("spark.paimon.format-table.implementation", "engine")
    try:
        with pytest.raises(UnsupportedError, match="engine"):
            sql("SELECT * FROM t")
    finally:
        spark.conf.unset("spark.paimon.format-table.implementation")
    assert sql("SELECT * FROM t") == [(1, "a")]
    assert [one.name.startswith("data-") for one in Path(ours(server).path).iterdir()] == [True]


@pytest.mark.skipif(
    pyspark.__version__ < "4.3", reason="Spark 4.2 knows LIKE for its own catalog only"
)
def test_a_table_like_another_is_of_its_format_unless_another_is_said(
    sql: Any, server: Server
) -> None:
    sql(
        "CREATE TABLE t (id INT, k STRING) USING csv PARTITIONED BY (k) COMMENT 'ours' "
        "TBLPROPERTIES ('csv.field-delimiter' = ';', 'file.compression' = 'gzip')"
    )
    sql("CREATE TABLE alike LIKE t TBLPROPERTIES ('file.compression' = 'none')")
    sql("CREATE TABLE other LIKE t USING json")
    sql("CREATE TABLE whole LIKE t USING paimon")

    alike, other = ours(server, "alike"), ours(server, "other")
    try:
        whole = pl.connect(server.options).table("db.whole")
    finally:
        sql("DROP TABLE whole")
    assert {one.comment for one in (alike, other, whole)} == {"ours"}
    assert {tuple(one.partition_keys) for one in (alike, other)} == {("k",)}
    assert (alike.format, other.format, whole.options) == ("csv", "json", {})
    assert alike.options["csv.field-delimiter"] == ";"
    assert alike.options["file.compression"] == "none"
    assert not {"csv.field-delimiter", "file.compression"} & {*other.options}
    assert alike.path != ours(server).path


def test_what_the_session_sets_of_a_format_table_is_obeyed_or_refused(
    spark: SparkSession, sql: Any, server: Server
) -> None:
    sql("CREATE TABLE t (id INT) USING csv PARTITIONED BY (k STRING)")
    only_values = "spark.paimon.format-table.partition-path-only-value"
    default_name = "spark.paimon.*.db.t.partition.default-name"
    managed = "spark.paimon.metastore.partitioned-table"
    try:
        spark.conf.set(only_values, "true")
        spark.conf.set(default_name, "none")
        sql("INSERT INTO t VALUES (1, 'a'), (2, NULL)")
        assert sql("SELECT * FROM t ORDER BY id") == [(1, "a"), (2, None)]
        folders = sorted(one.name for one in Path(ours(server).path).iterdir() if one.is_dir())
        assert folders == ["a", "none"]
        spark.conf.unset(only_values)
        assert sql("SELECT * FROM t") == []
        for value in ("true", "yes"):
            spark.conf.set(managed, value)
            with pytest.raises(UnsupportedError, match=f"{managed} = '{value}' for .*db.t"):
                sql("SELECT * FROM t")
        spark.conf.set(managed, "false")
        assert sql("SELECT * FROM t") == []
    finally:
        for key in (only_values, default_name, managed):
            spark.conf.unset(key)


def test_the_greatest_partition_is_one_with_files(sql: Any, server: Server) -> None:
    sql("CREATE TABLE t (id INT) USING csv PARTITIONED BY (ds STRING)")
    sql("CREATE TABLE whole (id INT) USING csv")
    sql("INSERT INTO t VALUES (1, '20240101'), (2, '20240103'), (3, '20240102'), (4, NULL)")
    sql("ALTER TABLE t ADD PARTITION (ds = '20240104')")
    Path(ours(server).path, "ds=20240105").mkdir()

    assert sql("SELECT served.sys.max_pt('served.db.t')") == [("20240103",)]
    assert sql("SELECT * FROM t WHERE ds = served.sys.max_pt('served.db.t')") == [(2, "20240103")]
    with pytest.raises(UnsupportedError, match="not a partitioned table"):
        sql("SELECT served.sys.max_pt('served.db.whole')")


def test_a_partition_that_is_not_there_is_not_truncated(sql: Any) -> None:
    sql("CREATE TABLE t (id INT) USING csv PARTITIONED BY (p1 INT, p2 STRING)")
    sql("INSERT INTO t VALUES (1, 1, '1')")

    with pytest.raises(NotFoundError, match="has no partition p1 = 9, p2 = '9'"):
        sql("TRUNCATE TABLE t PARTITION (p1 = 9, p2 = '9')")
    sql("TRUNCATE TABLE t PARTITION (p1 = 9)")

    assert sql("SELECT * FROM t") == [(1, 1, "1")]


def test_rows_that_files_cannot_say_leave_nothing(sql: Any, server: Server) -> None:
    sql("CREATE TABLE t (id BIGINT, v STRING) USING csv PARTITIONED BY (p BIGINT)")
    with pytest.raises(Exception, match="end of a line"):
        sql("INSERT INTO t SELECT id, if(id = 77, 'a\\nb', 'x'), id % 3 FROM range(0, 100, 1, 4)")
    assert sql("SELECT * FROM t") == []
    assert list(Path(ours(server).path).iterdir()) == []


def test_what_other_attempts_of_tasks_left_is_deleted(sql: Any, server: Server) -> None:
    sql("CREATE TABLE t (id INT) USING csv PARTITIONED BY (p STRING)")
    table = ours(server)
    job, rows = table.writer(), pa.record_batch({"id": pa.array([1], pa.int32()), "p": ["x"]})
    counted, speculative = job.another(), job.another()
    for one in (counted, speculative):
        one.write(rows)
    staged, _ = (one.staged() for one in (counted, speculative))
    other = table.writer()
    other.write(rows)
    [of_others] = other.staged()

    table.publish(staged)
    remove_attempts(table.file_io, staged)

    assert sorted(path.name for path in Path(table.path, "p=x").iterdir()) == [
        Path(of_others.hidden).name,
        Path(staged[0].path).name,
    ]
    assert sql("SELECT * FROM t") == [(1, "x")]
