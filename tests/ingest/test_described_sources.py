"""Sources that are said in words: addresses, and what is read."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.errors import UnsupportedError
from paimonlab.ingest import files, table_changes
from paimonlab.ingest.described_sources import (
    READING,
    SERVERS,
    Place,
    WordError,
    described_source,
    place_of,
)
from paimonlab.ingest.sources.kafka import Kafka
from paimonlab.ingest.sources.mongodb.source import MongoDb
from paimonlab.ingest.sources.mysql.source import MySql
from paimonlab.ingest.sources.postgresql.source import Postgres


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path / "warehouse")


@pytest.mark.parametrize(
    ("address", "kind", "words"),
    [
        (
            "mysql://cdc@db.shop:3307?password_env=CDC&time_zone=%2B08:00",
            "mysql",
            {
                "host": "db.shop",
                "port": 3307,
                "user": "cdc",
                "password_env": "CDC",
                "time_zone": "+08:00",
            },
        ),
        ("mariadb://cdc@h?tls=true", "mysql", {"host": "h", "user": "cdc", "tls": True}),
        (
            "postgres://a%40b@h:5433/shop?slot=lake&sslmode=verify-full",
            "postgres",
            {
                "host": "h",
                "port": 5433,
                "dbname": "shop",
                "user": "a@b",
                "slot": "lake",
                "options": {"sslmode": "verify-full"},
            },
        ),
        (
            "kafka://a:9092,b:9092?group=g&security.protocol=SSL",
            "kafka",
            {"bootstrap": "a:9092,b:9092", "group": "g", "options": {"security.protocol": "SSL"}},
        ),
        (
            "mongodb://cdc%40x@a:27017,b:27018/shop?replicaSet=rs0&password_env=P",
            "mongodb",
            {
                "hosts": "a:27017,b:27018",
                "user": "cdc@x",
                "database": "shop",
                "password_env": "P",
                "options": {"replicaSet": "rs0"},
            },
        ),
        ("mongodb+srv://c.shop", "mongodb", {"hosts": "c.shop", "srv": True}),
        ("files:./in", "files", {"folder": "./in"}),
        ("files:///data/in", "files", {"folder": "/data/in"}),
        ("paimon:./other", "table", {"warehouse": "./other"}),
    ],
)
def test_addresses_are_words(address: str, kind: str, words: dict[str, Any]) -> None:
    assert place_of(address) == Place(kind=kind, words=words)


@pytest.mark.parametrize(
    ("address", "error", "problem"),
    [
        ("oracle://h", UnsupportedError, "a source at 'oracle://h'"),
        ("./in", UnsupportedError, "a source at './in'"),
        ("mysql://cdc:secret@h", UnsupportedError, "a password in the address of mysql"),
        ("mysql://cdc@h/db", ValueError, "names a database"),
        ("mysql://cdc@h:x", ValueError, "no such port"),
        ("mysql://cdc@h?pasword_env=A", WordError, "Did you mean.*password_env"),
        ("kafka://h?slot=a", WordError, "slot: kafka takes"),
    ],
)
def test_what_is_no_address_is_refused(address: str, error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem) as caught:
        place_of(address)

    assert "secret" not in str(caught.value)


def test_words_become_the_sources_that_functions_make(catalog: pm.Catalog, tmp_path: Path) -> None:
    """The same as by hand: their names say server and tables."""
    pytest.importorskip("confluent_kafka")
    shop = place_of("mysql://cdc@h?password_env=P")
    made = described_source(
        shop,
        {"tables": r"shop\.orders", "type_mapping": "tinyint1-not-bool, char-to-string"},
        catalog,
    )
    by_hand = pm.mysql("h", user="cdc", password_env="P").tables(
        r"shop\.orders", type_mapping=["tinyint1-not-bool", "char-to-string"]
    )
    assert vars(made) == vars(by_hand)

    lake = place_of("postgres://cdc@h/shop?slot=lake")
    assert described_source(lake, {"tables": ["public.a", "public.b"]}, catalog).name == (
        "postgres h:5432/shop public.a,public.b"
    )
    events = place_of("kafka://h:9092")
    assert described_source(
        events,
        {"topic": "a, b", "format": "json", "columns": "id BIGINT, p DECIMAL(10, 2)"},
        catalog,
    ).name == ("kafka h:9092 a,b")
    folder = described_source(
        place_of(f"files:{tmp_path}"), {"table": "shop.t", "columns": '{"id": "BIGINT"}'}, catalog
    )
    assert list(folder.tables()) == ["shop.t"]
    catalog.create_database("db")
    catalog.write_table("db.t", [{"id": 1}])
    assert described_source(place_of("paimon:"), {"table": "db.t"}, catalog).name == "table db.t"


@pytest.mark.parametrize(
    ("address", "words", "problem"),
    [
        ("mysql://cdc@h", {}, "tables: it is missing"),
        ("mysql://h", {"tables": "a"}, "user: it is missing"),
        ("postgres://a@h/db", {"tables": "a"}, "slot: it is missing"),
        ("kafka://h", {"topic": "a"}, "format: it is missing"),
        ("kafka://h", {"format": "json"}, "topic: give topic, or topics"),
        ("kafka://h", {"topic": "a", "topics": "b", "format": "json"}, "give topic, or topics"),
        ("kafka://h", {"topic": "a", "format": "json", "columns": "id"}, "'id' is not a column"),
        ("files:/in", {"settle": "soon"}, "settle: seconds are wanted"),
        ("files:/in", {"tables": "a"}, "tables: files takes .*Did you mean"),
        ("paimon:", {}, "table: it is missing"),
    ],
)
def test_a_word_that_is_wrong_is_named(
    catalog: pm.Catalog, address: str, words: dict[str, Any], problem: str
) -> None:
    with pytest.raises(WordError, match=problem):
        described_source(place_of(address), words, catalog)


def test_the_words_are_those_of_the_functions() -> None:
    """A parameter that a function gets later must not be forgotten here."""

    def words(*functions: Any) -> set[str]:
        return {name for one in functions for name in inspect.signature(one).parameters} - {"self"}

    assert words(pm.mysql) == set(SERVERS["mysql"])
    assert words(pm.postgres) == set(SERVERS["postgres"])
    assert words(pm.kafka) == set(SERVERS["kafka"])
    assert words(pm.mongodb) == set(SERVERS["mongodb"])
    assert words(MongoDb.tables) - {"patterns"} | {"tables"} == set(READING["mongodb"])
    assert words(MySql.tables) - {"patterns"} | {"tables"} == set(READING["mysql"])
    assert words(Postgres.tables) - {"patterns"} | {"tables"} == set(READING["postgres"])
    kafka = words(Kafka.topic, Kafka.topics) - {"name", "pattern"} | {"topic", "topics"}
    assert kafka == set(READING["kafka"])
    assert words(files) - {"folder", "primary_keys"} == set(READING["files"])
    assert words(table_changes) == set(READING["table"])
