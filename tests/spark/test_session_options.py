"""Options that a session sets: obeyed as in Java, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import paimonlab
from paimonlab import AddColumn
from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark.session_options import SessionOption, options_for, options_of
from paimonlab.spec.options.registry import find_option
from paimonlab.spec.options.table_options import Options, check_supported
from paimonlab.table.table import Table

pytestmark = pytest.mark.usefixtures("interpreted")

INSERT = "INSERT INTO paimon.db.t VALUES (9, 'new', 'x')"
SELECT = "SELECT id FROM paimon.db.t ORDER BY id"


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Return a table with two rows in two partitions."""
    made = catalog.create_table(
        "db.t",
        {"id": "BIGINT", "v": "STRING", "dt": "STRING"},
        primary_keys=["id", "dt"],
        partition_keys=["dt"],
        options={"bucket": "2", "merge-engine": "deduplicate"},
    )
    made.write(pa.table({"id": [1, 2], "v": ["a", "b"], "dt": ["x", "y"]}))
    return made


@pytest.fixture
def setting(spark: SparkSession) -> Iterator[Callable[[str, str], None]]:
    """Set an option of the session until the test is over."""
    keys: list[str] = []

    def set_one(key: str, value: str) -> None:
        spark.conf.set(key, value)
        keys.append(key)

    yield set_one
    for key in keys:
        spark.conf.unset(key)


def test_keys_with_hyphens_are_set_without_quotes(table: Table, spark: SparkSession) -> None:
    table.write(pa.table({"id": [3], "v": ["c"], "dt": ["x"]}))
    key = "spark.paimon.scan.snapshot-id"
    spark.sql(f"SET {key} = 1;")
    try:
        assert spark.sql(f"SET {key}").collect() == [(key, "1")]
        assert spark.sql(SELECT).collect() == [(1,), (2,)]
    finally:
        spark.sql(f"RESET {key}")

    assert spark.conf.get(key, None) is None


def test_settings_of_ours_that_are_not_known_are_errors() -> None:
    known = "spark.paimonlab.masks.driver-rows"
    assert options_for({known: "1"}, ["paimon", "db", "t"]) == {}

    with pytest.raises(SchemaError, match=r"driver_rows' is not known\. Did you mean 'masks"):
        options_for({known.replace("-", "_"): "1"}, ["paimon", "db", "t"])


def test_columns_in_the_order_of_hive_are_refused_when_rows_are_written(
    table: Table, spark: SparkSession, setting: Callable[[str, str], None]
) -> None:
    option = "spark.paimon.write.hive-style-dynamic-partition.enabled"
    setting(option, "TRUE")

    for statement in (
        INSERT,
        "INSERT INTO paimon.db.t PARTITION (dt) SELECT 9, 'x', 'new'",
        "INSERT OVERWRITE paimon.db.t PARTITION (dt = 'x') VALUES (9, 'new')",
    ):
        with pytest.raises(UnsupportedError, match=f"{re.escape(option)} = 'TRUE'"):
            spark.sql(statement)
    assert spark.sql(SELECT).collect() == [(1,), (2,)]

    setting(option, "false")
    spark.sql(INSERT)
    assert spark.sql(SELECT).collect() == [(1,), (2,), (9,)]


def test_other_types_of_timestamps_are_refused(
    table: Table, spark: SparkSession, setting: Callable[[str, str], None]
) -> None:
    setting("spark.paimon.legacy-timestamp-mapping.enabled", "true")

    for statement in (SELECT, INSERT, "CREATE TABLE paimon.db.n (ts TIMESTAMP)"):
        with pytest.raises(UnsupportedError, match=r"legacy-timestamp-mapping\.enabled = 'true'"):
            spark.sql(statement)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("merge-engine", "first-row"),
        ("bucket-key", "v"),
        ("bucket", "7"),
        ("primary-key", "id"),
        ("partition", "v"),
        ("rowkind.field", "v"),
        ("deletion-vectors.enabled", "true"),
    ],
)
def test_what_makes_a_table_cannot_be_set_by_a_session(
    table: Table,
    spark: SparkSession,
    setting: Callable[[str, str], None],
    option: str,
    value: str,
) -> None:
    setting(f"spark.paimon.*.db.*.{option}", value)

    for statement in (SELECT, INSERT, f"{SELECT.replace('db.t', 'db.t VERSION AS OF 1')}"):
        shown = re.escape(f"spark.paimon.*.db.*.{option} = {value!r} for db.t")
        with pytest.raises(UnsupportedError, match=shown):
            spark.sql(statement).collect()
    assert table.scan().count() == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("merge-engine", "deduplicate"),
        ("bucket", "2"),
        ("primary-key", "id,dt"),
        ("partition", "dt"),
        ("deletion-vectors.enabled", "false"),
    ],
)
def test_what_the_table_has_anyway_may_be_set(
    table: Table,
    spark: SparkSession,
    setting: Callable[[str, str], None],
    option: str,
    value: str,
) -> None:
    setting(f"spark.paimon.{option}", value)

    spark.sql(INSERT)

    assert spark.sql(SELECT).collect() == [(1,), (2,), (9,)]


def test_a_branch_of_the_session_is_read_and_written(
    table: Table, spark: SparkSession, setting: Callable[[str, str], None]
) -> None:
    table.branches.create("dev")
    table.branches.create("other")
    setting("spark.paimon.branch", "dev")

    spark.sql(INSERT)
    spark.sql("INSERT INTO paimon.db.`t$branch_other` VALUES (7, 'o', 'x')")

    assert spark.sql(SELECT).collect() == [(9,)]
    assert spark.sql(SELECT.replace("db.t", "db.t VERSION AS OF 1")).collect() == [(9,)]
    assert spark.sql(SELECT.replace("db.t", "db.`t$branch_other`")).collect() == [(7,)]
    assert [row.partition for row in spark.sql("SHOW PARTITIONS paimon.db.t").collect()] == ["dt=x"]
    with pytest.raises(UnsupportedError, match=r"CALL paimon.sys.compact with spark.paimon.branch"):
        spark.sql("CALL paimon.sys.compact(table => 'db.t')")
    assert table.scan().to_arrow().sort_by("id")["id"].to_pylist() == [1, 2]
    spark.sql("ALTER TABLE paimon.db.t DROP PARTITION (dt = 'x')")
    assert table.scan().count() == 2
    assert table.on_branch("dev").scan().count() == 0


def test_a_branch_of_the_session_is_described_and_altered(
    table: Table, spark: SparkSession, setting: Callable[[str, str], None], catalog: Catalog
) -> None:
    def count(name: str) -> int:
        return int(spark.sql(f"SELECT count(*) FROM paimon.db.`{name}`").collect()[0][0])

    table.branches.create("dev", snapshot=1)
    catalog.alter_table("db.t$branch_dev", AddColumn("only_dev", "INT"))
    table.on_branch("dev").write(
        pa.table({"id": [3], "v": ["c"], "dt": ["z"], "only_dev": pa.array([1], pa.int32())})
    )
    table.write(pa.table({"id": [4], "v": ["d"], "dt": ["x"]}))
    table.write(pa.table({"id": [5], "v": ["e"], "dt": ["x"]}))
    setting("spark.paimon.*.db.t.branch", "dev")

    assert count("t$snapshots") == count("t$branch_dev$snapshots") == 2
    assert count("t$branch_main$snapshots") == 3
    assert (count("t$partitions"), count("t$branch_main$partitions")) == (3, 2)
    assert count("t$branch_main") == 4
    assert spark.sql("SELECT only_dev FROM paimon.db.t WHERE id = 3").collect() == [(1,)]
    assert "only_dev" in spark.table("paimon.db.`t$ro`").columns
    spark.sql("ALTER TABLE paimon.db.t RENAME COLUMN only_dev TO renamed")
    spark.sql("ALTER TABLE paimon.db.t ADD COLUMN more INT")
    spark.sql("ALTER TABLE paimon.db.`t$branch_main` ADD COLUMN main_only INT")

    assert names(catalog, "db.t$branch_dev") == ["id", "v", "dt", "renamed", "more"]
    assert names(catalog, "db.t") == ["id", "v", "dt", "main_only"]
    assert spark.table("paimon.db.t").columns == ["id", "v", "dt", "renamed", "more"]


def test_a_whole_table_is_not_dropped_or_renamed_where_the_session_means_a_branch(
    table: Table, spark: SparkSession, setting: Callable[[str, str], None], catalog: Catalog
) -> None:
    table.branches.create("dev")
    setting("spark.paimon.branch", "dev")

    for statement in ("DROP TABLE paimon.db.t", "ALTER TABLE paimon.db.t RENAME TO paimon.db.n"):
        shown = r"db\.t with spark\.paimon\.branch = 'dev'.* RESET spark\.paimon\.branch"
        with pytest.raises(UnsupportedError, match=shown):
            spark.sql(statement)
    spark.sql("DROP TABLE IF EXISTS paimon.db.missing")

    assert catalog.tables("db") == ["t"]
    spark.conf.unset("spark.paimon.branch")
    spark.sql("DROP TABLE paimon.db.t")
    assert catalog.tables("db") == []


OBEYED = (  # by queries, by streams and by INSERT, each with tests of its own
    "read.allow.fullScan",
    "read.changelog",
    "read.stream.maxBytesPerTrigger",
    "read.stream.maxFilesPerTrigger",
    "read.stream.maxRowsPerTrigger",
    "read.stream.maxTriggerDelayMs",
    "read.stream.minRowsPerTrigger",
    "write.merge-schema",
    "write.merge-schema.explicit-cast",
    "write.merge-schema.type-widening",
)
REFUSED = {
    "legacy-timestamp-mapping.enabled": "true",
    "source.split.target-size-with-column-pruning": "true",
    "write.data-evolution.update-conflict-retry.max-attempts": "3",
    "write.data-evolution.update-conflict-retry.wait-ms": "5",
    "write.hive-style-dynamic-partition.enabled": "true",
}
WITHOUT_EFFECT = {
    "format-table.repair.collect-statistics": "of partitions that catalogs keep, which is newer",
    "format-table.statistics.parallelism": "of partitions that catalogs keep, which is newer",
    "requiredSparkConfsCheck.enabled": "connect sets what it needs",
    "vector-search.lateral-join.parallelism": "of vector_search, which is refused",
    "write.use-v2-write": "which of Java's two writers writes the same rows",
}


def test_each_option_of_javas_connector_is_obeyed_or_refused_or_has_nothing_to_do(
    tmp_path: Path,
) -> None:
    """The 20 that Paimon documents for Spark."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT"})

    def taken(key: str, value: str) -> None:
        given = {key: SessionOption(f"spark.paimon.{key}", value)}
        options = Options({**table.options, **options_of(given, table, writes=True)})
        check_supported(options, table.schema, "read")
        check_supported(options, table.schema, "write")

    assert len({*OBEYED, *REFUSED, *WITHOUT_EFFECT}) == 20
    for key in OBEYED:
        found = find_option(key)
        assert found is not None
        assert found.status != "accepted", f"{key} must not be taken in silence"
    for key, value in REFUSED.items():
        with pytest.raises(UnsupportedError, match=re.escape(key)):
            taken(key, value)
    for key in WITHOUT_EFFECT:
        found = find_option(key)
        assert found is not None
        assert found.status == "accepted", key
    with pytest.raises(UnsupportedError, match="format-table"):
        catalog.create_table("db.f", {"id": "BIGINT"}, options={"type": "format-table"})


def names(catalog: Catalog, table: str) -> list[str]:
    opened = catalog.table(table)
    assert isinstance(opened, Table)
    return list(opened.schema.field_names)


@pytest.mark.parametrize(
    ("option", "value", "statement"),
    [
        ("legacy-timestamp-mapping.enabled", "true", SELECT),
        ("source.split.target-size-with-column-pruning", "true", SELECT),
        ("write.data-evolution.update-conflict-retry.max-attempts", "3", INSERT),
        ("write.data-evolution.update-conflict-retry.wait-ms", "5", INSERT),
        ("write.hive-style-dynamic-partition.enabled", "true", INSERT),
    ],
)
def test_options_of_javas_connector_that_are_not_obeyed_are_refused(
    option: str,
    value: str,
    statement: str,
    table: Table,
    spark: SparkSession,
    setting: Callable[[str, str], None],
) -> None:
    """The others that it documents are obeyed by streams, or of features that there are not."""
    setting(f"spark.paimon.{option}", value)

    with pytest.raises(UnsupportedError, match=re.escape(option)):
        spark.sql(statement)

    assert table.snapshots.latest_id() == 1


def test_a_session_forbids_to_read_all_partitions(
    spark: SparkSession, catalog: Catalog, setting: Callable[[str, str], None]
) -> None:
    spark.sql("CREATE TABLE paimon.db.whole (a INT)")
    spark.sql("INSERT INTO paimon.db.whole VALUES (1), (2)")
    spark.sql("CREATE TABLE paimon.db.parts (a INT, p INT) PARTITIONED BY (p)")
    spark.sql("CREATE TABLE paimon.db.empty (a INT, p INT) PARTITIONED BY (p)")
    spark.sql("INSERT INTO paimon.db.parts VALUES (1, 1), (2, 2)")
    spark.sql(
        "CREATE TABLE paimon.db.orc (a INT, p INT) PARTITIONED BY (p) "
        "TBLPROPERTIES ('file.format' = 'orc')"
    )
    spark.sql("INSERT INTO paimon.db.orc VALUES (1, 1), (2, 2)")
    setting("spark.paimon.read.allow.fullScan", "false")

    for refused in ("parts", "parts WHERE p > 0 AND a > 0", "parts LIMIT 1", "orc WHERE p > 0"):
        with pytest.raises(UnsupportedError, match=r"full scan of db\.(parts|orc)"):
            spark.sql(f"SELECT a FROM paimon.db.{refused}").collect()
    assert spark.sql("SELECT a FROM paimon.db.parts WHERE p > 1").collect() == [(2,)]
    assert spark.sql("SELECT a FROM paimon.db.orc WHERE p > 1").collect() == [(2,)]
    assert spark.sql("SELECT count(*) FROM paimon.db.whole WHERE a > 0").collect() == [(2,)]
    assert spark.sql("SELECT * FROM paimon.db.empty").collect() == []
    assert spark.sql("SELECT paimon.sys.max_pt('paimon.db.parts')").collect() == [("2",)]
    with pytest.raises(UnsupportedError, match="full scan"):
        spark.sql("SELECT paimon.sys.max_pt('paimon.db.parts'), a FROM paimon.db.parts").collect()
    setting("spark.paimon.paimon.db.parts.read.allow.fullScan", "false")
    with pytest.raises(UnsupportedError, match=r"for all tables: spark\.paimon\.read"):
        spark.sql("SELECT a FROM paimon.db.parts WHERE p > 1").collect()
