"""Paimon's actions in their own words: what they become, and what is refused by name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.errors import UnsupportedError
from paimonlab.ingest.actions import action_job

MYSQL = ["hostname=h", "port=3307", "username=cdc", "database-name=shop"]
POSTGRES = ["hostname=h", "username=u", "database-name=d", "schema-name=s", "slot.name=lake"]
MONGODB = ["hosts=a:1,b:2", "database=shop", "collection=o.*"]
KAFKA = ["properties.bootstrap.servers=h:9092", "value.format=canal-json", "topic=a;b"]


def asked(action: str, **told: Any) -> Any:
    given = {
        name: [value] if isinstance(value, str) else list(value) for name, value in told.items()
    }
    return action_job(action, {"warehouse": ["./w"], "database": ["ods"], **given})


def test_a_table_of_mysql() -> None:
    made = asked(
        "mysql_sync_table",
        table="o",
        primary_keys="id, dt",
        partition_keys="dt",
        type_mapping="tinyint1-not-bool,char-to-string",
        computed_column=["dt=date_format(created, yyyy-MM-dd)"],
        metadata_column="op_ts",
        mysql_conf=[*MYSQL, "table-name=o\\d+", "server-time-zone=+08:00", "password_env=P"],
        table_conf=["bucket=4", "changelog-producer=input"],
        catalog_conf=["metastore=filesystem"],
    )

    assert made.place.words == {
        "host": "h",
        "port": 3307,
        "user": "cdc",
        "password_env": "P",
        "time_zone": "+08:00",
    }
    assert made.reading == {
        "start": "initial",
        "tables": [r"(?:shop)\.(?:o\d+)"],
        "type_mapping": ["tinyint1-not-bool", "char-to-string"],
    }
    assert made.words == {
        "into": "ods",
        "name": "ods_o",
        "table_names": "o",
        "primary_keys": ["id", "dt"],
        "partition_keys": ["dt"],
        "computed": {"dt": "date_format(created, yyyy-MM-dd)"},
        "metadata": ["op_ts"],
        "options": {"bucket": "4", "changelog-producer": "input"},
    }
    assert (made.warehouse, made.catalog_options) == ("./w", {"metastore": "filesystem"})
    assert made.until is None


def test_a_database_of_mysql() -> None:
    made = asked(
        "mysql_sync_database",
        mysql_conf=[*MYSQL, "scan.startup.mode=latest-offset"],
        table_prefix="p_",
        table_mapping=["Orders=o"],
        including_tables="orders|items",
        excluding_tables=".*_old",
        merge_shards="false",
        multiple_table_partition_keys=["orders=dt", "items=dt,h"],
        sync_primary_keys_from_source_schema="false",
    )

    assert made.reading["tables"] == [r"(?:shop)\.(?:orders|items)"]
    assert made.reading["excluding"] == r"[^.]*\.(?:.*_old)"
    assert made.reading["start"] == "latest"
    assert made.words == {
        "into": "ods",
        "name": "ods",
        "table_names": {"Orders": "o"},
        "prefix": "p_",
        "merge_shards": False,
        "primary_keys": [],
        "partition_keys": {"o": ["dt"], "p_items": ["dt", "h"]},
    }


def test_prefixes_by_database() -> None:
    made = asked(
        "mysql_sync_database",
        mysql_conf=MYSQL,
        table_prefix="p_",
        table_prefix_db=["shop1=one_", "shop2="],
        table_suffix_db="shop1=_x",
    )

    assert made.words["prefix"] == {"": "p_", "shop1": "one_", "shop2": ""}
    assert made.words["suffix"] == {"shop1": "_x"}


def test_postgres_and_kafka() -> None:
    made = asked("postgres_sync_table", table="t", postgres_conf=[*POSTGRES, "table-name=t.*"])
    assert made.place.words == {"host": "h", "dbname": "d", "user": "u", "slot": "lake"}
    assert made.reading == {"tables": [r"(?:s)\.(?:t.*)"], "start": "initial"}

    made = asked(
        "kafka_sync_database",
        kafka_conf=[*KAFKA, "properties.group.id=g", "properties.security.protocol=SSL"],
        including_tables="o.*",
        excluding_dbs="tmp",
    )
    assert made.place.words == {
        "bootstrap": "h:9092",
        "group": "g",
        "options": {"security.protocol": "SSL"},
    }
    assert made.reading == {"format": "canal-json", "start": "group-offsets", "topic": ["a", "b"]}
    assert made.words["including"] == r"(?:[^.]*)\.(?:o.*)"
    assert made.words["excluding"] == r"(?:tmp)\..*"
    made = asked(
        "kafka-sync-table".replace("-", "_"),
        table="t",
        kafka_conf=[
            *KAFKA,
            "scan.startup.mode=timestamp",
            "scan.startup.timestamp-millis=1700000000000",
        ],
    )
    assert made.reading["start"] == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def test_mongodb(tmp_path: Path) -> None:
    """The words of Paimon's documentation of the action."""
    specified = ["schema.start.mode=specified", "field.name=_id,city"]
    made = asked(
        "mongodb_sync_table",
        table="t",
        mongodb_conf=[
            *MONGODB,
            "username=cdc",
            "password_env=P",
            "connection.options=replicaSet=rs0&tls=true",
            *specified,
            "parser.path=$._id, $.address.city",
            "default.id.generation=false",
            "scan.startup.mode=timestamp",
            "scan.startup.timestamp-millis=1700000000000",
        ],
    )
    assert made.place.words == {
        "hosts": "a:1,b:2",
        "user": "cdc",
        "password_env": "P",
        "database": "shop",
        "options": {"replicaSet": "rs0", "tls": "true"},
    }
    assert made.reading == {
        "tables": [r"(?:shop)\.(?:o.*)"],
        "start": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        "fields": {"_id": "$._id", "city": "$.address.city"},
        "ids": "extended",
    }
    pytest.importorskip("pymongo")
    assert made.job(pm.connect(tmp_path)).job.name == "ods_t"
    made = asked(
        "mongodb_sync_database",
        mongodb_conf=["hosts=a:1", r"database=shop\d"],
        including_tables="a|b",
        excluding_tables="b.*",
    )
    source: Any = made.job(pm.connect(tmp_path)).job._source
    assert source.login.database is None
    names = ("shop1.a", "shop1.b", "shop1.ab", "shop.a")
    assert [name for name in names if source.wants(name)] == ["shop1.a"]


def test_names_with_hyphens_and_a_place_of_the_log() -> None:
    made = action_job(
        "mysql_sync_table",
        {
            "warehouse": ["w"],
            "database": ["d"],
            "table": ["t"],
            "name": ["mine"],
            "until": ["caught-up"],
            "mysql-conf": [
                *MYSQL,
                "table-name=t",
                "scan.startup.mode=specific-offset",
                "scan.startup.specific-offset.file=b.7",
                "scan.startup.specific-offset.pos=4",
            ],
        },
    )

    assert made.reading["start"] == {"file": "b.7", "pos": 4}
    assert (made.words["name"], made.until) == ("mine", "caught-up")


@pytest.mark.parametrize(
    ("action", "told", "error", "problem"),
    [
        ("mongodb_sync_table", {"table": "t"}, ValueError, "mongodb_conf hosts is missing"),
        (
            "mongodb_sync_table",
            {"table": "t", "mongodb_conf": MONGODB[:2]},
            ValueError,
            "collection is missing",
        ),
        (
            "mongodb_sync_database",
            {"mongodb_conf": MONGODB},
            ValueError,
            "use --including_tables",
        ),
        (
            "mongodb_sync_table",
            {"table": "t", "mongodb_conf": [*MONGODB, "schema.start.mode=specified"]},
            ValueError,
            "needs field.name and parser.path",
        ),
        (
            "mongodb_sync_table",
            {"table": "t", "mongodb_conf": [*MONGODB, "batch.size=9"]},
            UnsupportedError,
            "mongodb_conf batch.size",
        ),
        (
            "mongodb_sync_table",
            {"table": "t", "mongodb_conf": MONGODB, "type_mapping": "to-string"},
            UnsupportedError,
            "all its columns are STRING",
        ),
        ("pulsar_sync_database", {}, UnsupportedError, "pulsar_sync_database"),
        ("mysql_sync_tables", {}, ValueError, "no action"),
        ("mysql_sync_table", {}, ValueError, "--table is missing"),
        ("mysql_sync_table", {"table": "t"}, ValueError, "hostname is missing"),
        ("mysql_sync_table", {"tabel": "t"}, ValueError, "Did you mean.*table"),
        ("mysql_sync_table", {"table": ["a", "b"]}, ValueError, "--table is given twice"),
        ("mysql_sync_table", {"table": "t", "table_conf": "bucket"}, ValueError, "key=value"),
        ("mysql_sync_table", {"table": "t", "mode": "combined"}, ValueError, "--mode is not an"),
        ("mysql_sync_database", {"mode": "divided"}, UnsupportedError, "--mode divided"),
        ("mysql_sync_database", {"eager_init": "true"}, UnsupportedError, "--eager_init true"),
        (
            "mysql_sync_database",
            {"table_prefix_db": "a=b", "multiple_table_partition_keys": "t=dt"},
            UnsupportedError,
            "table_prefix_db",
        ),
        ("mysql_sync_database", {"table_prefix_db": "b"}, ValueError, "key=value"),
        ("mysql_sync_database", {"merge_shards": "no"}, ValueError, "true or false"),
        (
            "mysql_sync_database",
            {"mysql_conf": [*MYSQL, "server-id=5400"]},
            UnsupportedError,
            "mysql_conf server-id is not supported",
        ),
        (
            "mysql_sync_database",
            {"mysql_conf": [*MYSQL, "table-name=t"]},
            ValueError,
            "use --including_tables",
        ),
        (
            "mysql_sync_database",
            {"mysql_conf": [*MYSQL, "scan.startup.mode=earliest-offset"]},
            UnsupportedError,
            "scan.startup.mode=earliest-offset of MySQL",
        ),
        (
            "mysql_sync_database",
            {"mysql_conf": [*MYSQL, "password=zq-secret"]},
            UnsupportedError,
            "the key password_env",
        ),
        (
            "postgres_sync_table",
            {"table": "t", "postgres_conf": [*POSTGRES, "decoding.plugin.name=wal2json"]},
            UnsupportedError,
            "use pgoutput",
        ),
        ("kafka_sync_table", {"table": "t", "kafka_conf": KAFKA}, ValueError, "group-offsets"),
        (
            "kafka_sync_table",
            {"table": "t", "kafka_conf": [*KAFKA, "topic-pattern=a.*"]},
            ValueError,
            "one of them",
        ),
        (
            "kafka_sync_table",
            {"table": "t", "kafka_conf": [*KAFKA, "properties.group.id=g", "properties.x=1"]},
            UnsupportedError,
            "kafka_conf properties.x",
        ),
    ],
)
def test_what_is_not_meant_is_named(
    action: str, told: dict[str, Any], error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem) as caught:
        asked(action, **told)

    assert "zq-secret" not in str(caught.value)


def test_a_password_is_in_the_environment_or_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    conf = [*MYSQL, "password=${CDC}", "server-time-zone=${ZONE}"]
    with pytest.raises(ValueError, match=r"ZONE\} is not in the environment"):
        asked("mysql_sync_database", mysql_conf=conf)
    monkeypatch.setenv("ZONE", "UTC")

    made = asked("mysql_sync_database", mysql_conf=conf)

    assert (made.place.words["password_env"], made.place.words["time_zone"]) == ("CDC", "UTC")


def test_regexes_mean_whole_names(tmp_path: Path) -> None:
    """As Java's `matches`: an alternative does not reach into the database's name."""
    made = asked(
        "mysql_sync_database",
        mysql_conf=["hostname=h", "username=u", "database-name=shop\\d|web"],
        including_tables="a|b",
        excluding_tables="b_.*|c",
        excluding_dbs="shop9",
    )
    source: Any = made.job(pm.connect(tmp_path)).job._source

    wanted = [
        f"{database}.{table}"
        for database in ("shop1", "shop9", "web", "webb", "shop12")
        for table in ("a", "b", "c", "ab", "b_x")
        if source.wants(f"{database}.{table}")
    ]
    assert wanted == ["shop1.a", "shop1.b", "web.a", "web.b"]
