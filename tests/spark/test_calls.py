"""How often Python calls the JVM in a statement: each call takes 0.1 to 0.3 ms, and ten as long.

The counts are those of a warm session, whatever the machine does. A bound that is passed is a
statement that asks for something one by one; it is raised only for something that is worth it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.spark.plans import calls_into_jvm

COLUMNS = 12
_ATTEMPTS = 3
KEYED = {"primary_keys": ["id"], "options": {"bucket": "1", "write-only": "true"}}
TEN_ROWS = ", ".join(f"({number}, 'text {number}')" for number in range(10))
SOURCE = f"(SELECT * FROM VALUES {TEN_ROWS} AS s (id, s))"
MERGE = """
MERGE INTO paimon.db.{table} t USING {source} s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
"""

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def tables(catalog: Catalog) -> None:
    """Make append table ``t`` and primary-key table ``k`` of two columns, with a row each."""
    columns = {"id": "BIGINT NOT NULL", "s": "STRING"}
    for table in (
        catalog.create_table("db.t", columns),
        catalog.create_table("db.k", columns, **KEYED),  # type: ignore[arg-type]
    ):
        table.write([{"id": 1, "s": "x"}])


def calls(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, statement: str, most: int) -> int:
    """Count those of a statement that ran before; again where others may be among them.

    Whoever shows the progress of a slow statement asks the JVM, too, as often as time allows. Where
    frames are cached, each INSERT looks at them in a session of its own.
    """
    spark.catalog.clearCache()

    def run() -> object:
        return spark.sql(statement).collect()

    run()
    counts = [calls_into_jvm(monkeypatch, run)]
    while counts[-1] > most and len(counts) < _ATTEMPTS:
        counts.append(calls_into_jvm(monkeypatch, run))
    return min(counts)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("most", "statement"),
    [
        pytest.param(80, "SELECT * FROM paimon.db.t", id="SELECT"),
        pytest.param(100, "SELECT * FROM paimon.db.k WHERE id > 3", id="SELECT by key"),
        pytest.param(32, "SHOW TABLES IN paimon.db", id="SHOW"),
        pytest.param(55, "DESCRIBE paimon.db.t", id="DESCRIBE"),
        pytest.param(140, f"INSERT INTO paimon.db.t VALUES {TEN_ROWS}", id="INSERT"),
        pytest.param(140, f"INSERT INTO paimon.db.k VALUES {TEN_ROWS}", id="INSERT by key"),
        pytest.param(230, "UPDATE paimon.db.t SET s = 'y' WHERE id = 1", id="UPDATE"),
        pytest.param(235, "UPDATE paimon.db.k SET s = 'y' WHERE id = 1", id="UPDATE by key"),
        pytest.param(205, "DELETE FROM paimon.db.t WHERE id = 3", id="DELETE"),
        pytest.param(210, "DELETE FROM paimon.db.k WHERE id = 3", id="DELETE by key"),
        pytest.param(370, MERGE.format(table="t", source=SOURCE), id="MERGE"),
        pytest.param(450, MERGE.format(table="k", source=SOURCE), id="MERGE by key"),
    ],
)
def test_a_statement_takes_few_calls(
    most: int, statement: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert calls(spark, monkeypatch, statement, most) <= most


def test_a_table_more_takes_few_calls_more(
    catalog: Catalog, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(names: Sequence[str], most: int) -> int:
        for name in names:
            catalog.create_table(f"db.{name}", {"a": "INT"})
        return calls(spark, monkeypatch, "SHOW TABLES IN paimon.db", most)

    few = shown(["a", "b"], 38)
    many = shown([f"c{number}" for number in range(20)], few + 20 * 3)

    assert many - few <= 20 * 3  # a name, what is told of it, and its place in an array


WIDE: Sequence[tuple[str, int, Callable[[Sequence[str]], str]]] = [
    ("INSERT", 3, lambda names: f"INSERT INTO paimon.db.w SELECT * FROM {wide_source(names)}"),
    ("DELETE", 2, lambda _: "DELETE FROM paimon.db.w WHERE id = 100"),
    ("UPDATE", 5, lambda names: f"UPDATE paimon.db.w SET {names[0]} = 'y' WHERE id = 1"),
    (
        "UPDATE of all",
        32,
        lambda names: f"UPDATE paimon.db.w SET {', '.join(f'{n} = 1' for n in names)}",
    ),
    ("MERGE", 28, lambda names: MERGE.format(table="w", source=wide_source(names))),
]


def wide_source(names: Sequence[str]) -> str:
    values = ", ".join(f"concat('{name} ', id) {name}" for name in names)
    return f"(SELECT id, {values} FROM range(10))"


@pytest.mark.parametrize("options", [{}, KEYED], ids=["append", "keyed"])
@pytest.mark.parametrize(("most", "statement"), [one[1:] for one in WIDE], ids=[o[0] for o in WIDE])
def test_a_column_more_takes_few_calls_more(
    most: int,
    statement: Callable[[Sequence[str]], str],
    options: dict[str, object],
    catalog: Catalog,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = list[int]()
    for width in (2, COLUMNS):
        names = [f"c{number}" for number in range(width)]
        columns = {"id": "BIGINT NOT NULL", **dict.fromkeys(names, "STRING")}
        table = catalog.create_table("db.w", columns, **options)  # type: ignore[arg-type]
        table.write([{"id": 1, "c0": "x"}])
        bound = counts[0] + (width - 2) * most if counts else sys.maxsize
        counts.append(calls(spark, monkeypatch, statement(names), bound))
        catalog.drop_table("db.w")
    narrow, wide = counts

    assert (wide - narrow) / (COLUMNS - 2) <= most
