"""Statements that write without Spark, against a list of rows."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import DataError, PaimonError, SchemaError
from paimonlab.sql_engine import changes
from paimonlab.sql_engine.done import Done
from paimonlab.sql_engine.dry_runs import dry_run
from paimonlab.sql_engine.refusal import NotTranslatedError, StatementFailedError
from paimonlab.sql_engine.tables import Sources

KINDS: dict[str, dict[str, Any]] = {
    "append": {},
    "keyed": {"primary_keys": ["id"], "options": {"bucket": "1"}},
}


@pytest.fixture(params=KINDS)
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Catalog:
    """Make a table with three rows."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "INT NOT NULL", "v": "STRING", "m": "DECIMAL(10, 2)"}
    table = catalog.create_table("db.t", columns, **KINDS[request.param])
    table.write(
        pa.table(
            {
                "id": pa.array([1, 2, 3], "i4"),
                "v": ["a", "b", None],
                "m": pa.array([1, 2, None], pa.decimal128(10, 2)),
            }
        )
    )
    return catalog


def run(catalog: Catalog, sql: str, **values: Any) -> Done:
    return changes.run(sql, Sources(catalog), values)


def rows(catalog: Catalog, name: str = "db.t") -> list[tuple[Any, ...]]:
    table: Any = catalog.table(name)
    found = [tuple(row.values()) for row in table.scan().to_arrow().to_pylist()]
    return sorted((row[0], row[1], None if row[2] is None else float(row[2])) for row in found)


BEFORE = [(1, "a", 1.0), (2, "b", 2.0), (3, None, None)]


@pytest.mark.parametrize(
    ("sql", "after"),
    [
        (
            "INSERT INTO db.t VALUES (4, 'it', 1.5), (5, NULL, 7)",
            [(4, "it", 1.5), (5, None, 7.0)],
        ),
        (
            "INSERT INTO db.t (m, id, v) SELECT m, id + 10, upper(v) FROM db.t WHERE id = 1",
            [(11, "A", 1.0)],
        ),
        ("INSERT INTO db.t SELECT max(id) + 1, :text, NULL FROM db.t", [(4, "x' OR 1=1", None)]),
    ],
)
def test_rows_are_inserted(catalog: Catalog, sql: str, after: list[tuple[Any, ...]]) -> None:
    run(catalog, sql, text="x' OR 1=1")

    assert rows(catalog) == [*BEFORE, *after]


def test_rows_are_deleted_and_updated(catalog: Catalog) -> None:
    run(catalog, "DELETE FROM db.t WHERE v = :v AND id < 3", v="b")
    assert rows(catalog) == [BEFORE[0], BEFORE[2]]

    run(catalog, "UPDATE db.t SET v = 'new', m = 2.5 WHERE v IS NOT NULL OR id IN (7, 3)")
    assert rows(catalog) == [(1, "new", 2.5), (3, "new", 2.5)]

    run(catalog, "DELETE FROM db.t WHERE id > 100")
    assert len(rows(catalog)) == 2


def test_statements_say_how_many_rows_they_changed(catalog: Catalog) -> None:
    keyed = bool(catalog.table("db.t").primary_keys)
    for sql, rows_changed, said in (
        ("DELETE FROM db.t WHERE id > 100", 0, "no row was changed"),
        ("DELETE FROM db.t WHERE v = 'b'", 1, "1 row deleted"),
        ("UPDATE db.t SET v = 'x' WHERE id < 10", 2, "2 rows updated"),
        ("UPDATE db.t SET m = m + 1 WHERE upper(v) = 'X' AND id = 1", 1, "1 row updated"),
        ("INSERT INTO db.t VALUES (8, 'y', 1)", 1, f"1 row {'written' if keyed else 'inserted'}"),
        ("DELETE FROM db.t WHERE true", 3, "3 rows deleted"),
    ):
        done = run(catalog, sql)
        assert (done.rows, done.said.partition(", ")[0]) == (rows_changed, f"db.t: {said}"), sql
    assert run(catalog, "DROP TABLE db.t") == Done()


@pytest.mark.parametrize("keys", [[], ["p", "id"]])
def test_rows_of_dropped_partitions_are_counted(keys: list[str], tmp_path: Path) -> None:
    """Two commits to the same keys: what is in the files is more than what the table has."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "INT NOT NULL", "p": "STRING NOT NULL"}
    options = {"bucket": "1"} if keys else {}
    table = catalog.create_table(
        "db.t", columns, primary_keys=keys, partition_keys=["p"], options=options
    )
    for _ in range(2):
        table.write({"id": [1, 2, 3], "p": ["a", "a", "b"]})
    copies = 1 if keys else 2

    assert run(catalog, "DELETE FROM db.t WHERE p = 'a'").rows == 2 * copies
    assert run(catalog, "DELETE FROM db.t WHERE p = 'a'").rows == 0
    assert run(catalog, "DELETE FROM db.t WHERE true").rows == copies


def test_columns_in_files_of_their_own_are_counted(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    table = catalog.create_table("db.t", {"id": "INT", "v": "STRING"}, options=options)
    table.write({"id": [1, 2, 3], "v": ["a", "b", "c"]})

    assert run(catalog, "UPDATE db.t SET v = 'x' WHERE id > 1").rows == 2
    assert run(catalog, "UPDATE db.t SET v = 'x' WHERE id > 9").rows == 0


def test_conditions_are_those_of_queries(catalog: Catalog) -> None:
    run(catalog, "UPDATE db.t SET m = NULL WHERE upper(v) = 'A'")
    run(catalog, "UPDATE db.t SET v = 'none' WHERE m IS NULL OR T.ID * 2 = 4")
    assert {row[1] for row in rows(catalog) if row[0] in (1, 2)} == {"none"}
    run(catalog, "DELETE FROM db.t WHERE length(v) = 4 AND id + 1 > 2")

    assert [row[0] for row in rows(catalog)] == [1]


def test_a_table_is_made_of_a_query(catalog: Catalog) -> None:
    run(catalog, "CREATE TABLE db.made USING paimon AS SELECT id, v AS w, m * 2 AS n FROM db.t")

    table: Any = catalog.table("db.made")
    types = [str(field.type) for field in table.arrow_schema]
    assert types == ["int32", "string", "decimal128(12, 2)"]
    assert rows(catalog, "db.made") == [(1, "a", 2.0), (2, "b", 4.0), (3, None, None)]
    with pytest.raises(PaimonError, match="already exists"):
        run(catalog, "CREATE TABLE db.made AS SELECT 1 AS id")


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("INSERT INTO db.t (v) VALUES ('x')", SchemaError),
        ("INSERT INTO db.t (id, ID) VALUES (4, 5)", SchemaError),
        ("INSERT INTO db.t VALUES ('4', 'a', 1)", NotTranslatedError),
        ("INSERT INTO db.t VALUES (4, 5e0, 1)", NotTranslatedError),
        ("INSERT INTO db.t VALUES (4, 'a', 1.555)", NotTranslatedError),
        ("INSERT INTO db.t VALUES (3000000000, 'a', 1)", StatementFailedError),
        ("INSERT INTO db.t VALUES (NULL, 'a', 1)", DataError),
        ("INSERT INTO db.t VALUES (4, 'a')", SchemaError),
        ("INSERT INTO db.t PARTITION (id = 4) VALUES ('a', 1)", SchemaError),
        ("INSERT INTO db.`t$snapshots` VALUES (1)", NotTranslatedError),
        ("INSERT INTO db.t$snapshots VALUES (1, 'a', 1)", NotTranslatedError),
        ("DELETE FROM db.t$files WHERE id = 1", NotTranslatedError),
        ("DELETE FROM db.t $ WHERE id = 1", NotTranslatedError),
        ("DELETE FROM db.t x WHERE x.id = 1", NotTranslatedError),
        ("DELETE FROM db.t WHERE soundex(v) = 'A000'", NotTranslatedError),
        ("DELETE FROM db.t WHERE upper(v) = :hostile", NotTranslatedError),
        ("DELETE FROM db.t WHERE length(v)", NotTranslatedError),
        ("DELETE FROM db.t WHERE id = 1 AND v = (SELECT max(v) FROM db.t)", NotTranslatedError),
        ("UPDATE db.t SET m = m + 1e0", NotTranslatedError),
        ("UPDATE db.t SET m = (SELECT 1)", NotTranslatedError),
        ("UPDATE db.t SET v = 5 WHERE id = 1", NotTranslatedError),
        ("CREATE TABLE IF NOT EXISTS db.n AS SELECT 1 AS id", NotTranslatedError),
        ("CREATE VIEW db.n AS SELECT 1 AS id", NotTranslatedError),
    ],
)
def test_what_is_not_proven_writes_nothing(
    catalog: Catalog, sql: str, error: type[PaimonError]
) -> None:
    with pytest.raises(error):
        run(catalog, sql, hostile="x' || v || '")

    assert rows(catalog) == BEFORE
    assert catalog.tables("db") == ["t"]


@pytest.mark.parametrize(
    "text", ["O'Neil", "x' || v || '", "a\\", "\\'", "''", "\\n", "a\nb\x1a", "%_\\%", "${x} `b`"]
)
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE db.t SET v = :text WHERE id = 1",
        (
            "MERGE INTO db.t USING (SELECT 1 AS id) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET v = :text"
        ),
    ],
)
def test_texts_are_stored_as_they_are(catalog: Catalog, sql: str, text: str) -> None:
    run(catalog, sql, text=text)

    assert rows(catalog) == [(1, text, 1.0), *BEFORE[1:]]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_truth_values_are_set(tmp_path: Path, kind: dict[str, Any]) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT NOT NULL", "b": "BOOLEAN"}, **kind)
    table.write([{"id": 1, "b": None}, {"id": 2, "b": True}])

    run(catalog, "UPDATE db.t SET b = true WHERE id = 1")
    run(catalog, "UPDATE db.t SET b = :no WHERE id = 2", no=False)

    found = table.scan().to_arrow().sort_by("id")["b"].to_pylist()
    assert found == [True, False]


def test_columns_that_an_insert_leaves_out_are_null(catalog: Catalog) -> None:
    run(catalog, "INSERT INTO db.t (M, id) SELECT m, id + 10 FROM db.t WHERE id < 3")

    assert rows(catalog) == [*BEFORE, (11, None, 1.0), (12, None, 2.0)]


def test_an_overwrite_replaces_all_rows(catalog: Catalog) -> None:
    run(catalog, "INSERT OVERWRITE TABLE db.t SELECT id + 1, v, m FROM db.t WHERE id > 1")

    assert rows(catalog) == [(3, "b", 2.0), (4, None, None)]


@pytest.fixture
def days(catalog: Catalog) -> paimonlab.Table:
    """Make a table of two partition columns."""
    columns = {"h": "INT", "v": "INT", "day": "DATE", "name": "STRING"}
    table = catalog.create_table("db.days", columns, partition_keys=["day", "name"])
    rows = "(1, 2, DATE '2026-01-30', 'a'), (3, 4, DATE '2026-01-31', '7')"
    assert run(catalog, f"INSERT INTO db.days VALUES {rows}").rows == 2
    return table


def of_days(table: paimonlab.Table) -> list[tuple[Any, ...]]:
    rows = table.scan().to_arrow().to_pylist()
    return sorted(
        ((str(one["day"])[-2:], one["name"], one["h"], one["v"]) for one in rows), key=repr
    )


@pytest.mark.parametrize(
    ("sql", "after"),
    [
        (
            "INSERT INTO db.days PARTITION (day = '2026-01-31', NAME = 7) SELECT 5, 6",
            [("30", "a", 1, 2), ("31", "7", 3, 4), ("31", "7", 5, 6)],
        ),
        (
            "INSERT INTO db.days PARTITION (day, name = 'a') (V, day) VALUES (9, DATE'2026-01-30')",
            [("30", "a", 1, 2), ("30", "a", None, 9), ("31", "7", 3, 4)],
        ),
        (
            (
                "INSERT OVERWRITE db.days PARTITION (name = 'a', day = DATE '2026-01-30') "
                "SELECT v, h FROM db.days"
            ),
            [("30", "a", 2, 1), ("30", "a", 4, 3), ("31", "7", 3, 4)],
        ),
        (
            (
                "INSERT OVERWRITE db.days PARTITION (name = 'a', day = DATE '2026-01-30') "
                "SELECT v, h FROM db.days WHERE v > 99"
            ),
            [("31", "7", 3, 4)],
        ),
    ],
)
def test_partitions_get_rows(
    catalog: Catalog, days: paimonlab.Table, sql: str, after: list[tuple[Any, ...]]
) -> None:
    would = dry_run(sql, Sources(catalog)).change
    assert len(of_days(days)) - would.rows_deleted + would.rows_inserted == len(after)

    run(catalog, sql)

    assert of_days(days) == after


@pytest.mark.parametrize(
    ("sql", "error", "said"),
    [
        ("OVERWRITE db.days VALUES (1, 2, NULL, 'a')", NotTranslatedError, "query names"),
        (
            "OVERWRITE db.days PARTITION (day = '2026-01-30', name) VALUES (1, 2, 'a')",
            NotTranslatedError,
            "query names",
        ),
        ("INTO db.days PARTITION (h = 1) VALUES (1)", SchemaError, "they are: day, name"),
        ("INTO db.days PARTITION (day, DAY) VALUES (1)", SchemaError, "names day twice"),
        (
            "INTO db.days PARTITION (name = 'a') (h, name) VALUES (1, 'b')",
            SchemaError,
            "PARTITION gives name a value",
        ),
        ("INTO db.days PARTITION (name = 'a') VALUES (1, 2)", SchemaError, "2 columns for 3"),
        ("INTO db.days PARTITION (day = '30.1.2026') VALUES (1)", NotTranslatedError, "value"),
        ("INTO db.days PARTITION (day = NULL) VALUES (1)", NotTranslatedError, "such a value"),
        ("INTO db.days PARTITION (name = '') VALUES (1)", NotTranslatedError, "such a value"),
    ],
)
def test_partitions_that_are_unclear_are_refused(
    catalog: Catalog, days: paimonlab.Table, sql: str, error: type[PaimonError], said: str
) -> None:
    with pytest.raises(error, match=said):
        run(catalog, f"INSERT {sql}")

    assert of_days(days) == [("30", "a", 1, 2), ("31", "7", 3, 4)]


def test_updates_may_set_null(catalog: Catalog) -> None:
    run(catalog, "UPDATE db.t SET v = NULL, m = NULL WHERE id = 1")

    assert rows(catalog) == [(1, None, None), *BEFORE[1:]]


def test_updates_compute_with_old_values(catalog: Catalog) -> None:
    run(
        catalog,
        "UPDATE db.t SET v = upper(t.V) || '!', m = CAST(m + id AS DECIMAL(10, 2)) WHERE id < 3",
    )

    assert rows(catalog) == [(1, "A!", 2.0), (2, "B!", 4.0), BEFORE[2]]


_FRAME = pa.table(
    {
        "id": pa.array([1, 2, 4, 5], "i4"),
        "v": ["one", "two", None, "five"],
        "m": pa.array([Decimal(n) for n in (10, 20, 40, 50)], pa.decimal128(10, 2)),
        "op": ["u", "d", "u", "d"],
    }
)


@pytest.mark.parametrize(
    ("sql", "after"),
    [
        (
            (
                "MERGE INTO db.t t USING s ON t.id = s.id WHEN MATCHED AND s.op = 'd' THEN DELETE "
                "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED AND op <> 'd' THEN INSERT *"
            ),
            [(1, "one", 10.0), (3, None, None), (4, None, 40.0)],
        ),
        (
            (
                "MERGE INTO db.t USING (SELECT id AS k, upper(v) AS w, m FROM s WHERE id < 5) x "
                "ON x.k = id WHEN MATCHED THEN UPDATE SET v = concat(t.v, w), m = x.m "
                "WHEN NOT MATCHED THEN INSERT (m, id) VALUES (m + 1, k + 100) "
                "WHEN NOT MATCHED BY SOURCE THEN DELETE"
            ),
            [(1, "aONE", 10.0), (2, "bTWO", 20.0), (104, None, 41.0)],
        ),
        (
            (
                "MERGE INTO db.t AS old USING s AS new ON (old.id = new.id) "
                "WHEN MATCHED AND old.m < 2 AND new.op IN ('u', 'x') THEN DELETE "
                "WHEN NOT MATCHED BY SOURCE AND old.v IS NULL THEN UPDATE SET v = :text, m = 7"
            ),
            [(2, "b", 2.0), (3, "its", 7.0)],
        ),
    ],
)
def test_rows_are_merged(catalog: Catalog, sql: str, after: list[tuple[Any, ...]]) -> None:
    sources = Sources(catalog, frames={"s": _FRAME}.get)

    changes.run(sql, sources, {"text": "its"})

    assert rows(catalog) == after
    table: Any = catalog.table("db.t")
    assert table.snapshot.id == 2, "one commit"


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("ON t.id < s.id WHEN MATCHED THEN DELETE", NotTranslatedError),
        ("ON t.id = 1 WHEN MATCHED THEN DELETE", NotTranslatedError),
        ("ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = t.id", NotTranslatedError),
        ("ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'a', V = 'b'", SchemaError),
        ("ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = v", SchemaError),
        ("ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (t.id)", PaimonError),
        ("ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.m)", NotTranslatedError),
        ("ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = concat(t.v, :p)", NotTranslatedError),
        ("ON t.id = s.id WHEN MATCHED AND t.v = (SELECT 'a') THEN DELETE", NotTranslatedError),
    ],
)
def test_what_is_not_proven_of_a_merge_is_refused(
    catalog: Catalog, sql: str, error: type[PaimonError]
) -> None:
    sources = Sources(catalog, frames={"s": _FRAME}.get)

    with pytest.raises(error):
        changes.run(f"MERGE INTO db.t USING s {sql}", sources, {"p": "x"})

    assert rows(catalog) == BEFORE


def test_two_source_rows_of_one_row_are_refused(catalog: Catalog) -> None:
    sources = Sources(catalog, frames={"s": pa.concat_tables([_FRAME, _FRAME])}.get)

    with pytest.raises(DataError):
        changes.run(
            "MERGE INTO db.t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v", sources
        )

    assert rows(catalog) == BEFORE


def test_a_merge_takes_fields_of_structs_of_its_source(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT", "n": "INT", "x": "ROW<a INT, c STRING>"})
    place = pa.struct([("a", pa.int32()), ("c", pa.string())])
    made = pa.table(
        {
            "id": pa.array([1, 2], pa.int32()),
            "n": pa.array([0, 0], pa.int32()),
            "x": pa.array([{"a": 7, "c": "c"}, {"a": 8, "c": None}], place),
        }
    )
    table.write(made)
    sources = Sources(catalog, frames={"s": made}.get)
    merge = "MERGE INTO db.t t USING s ON t.id = s.id WHEN MATCHED"

    changes.run(f"{merge} AND s.x.a > 7 THEN UPDATE SET n = s.x.a", sources)

    assert sorted(table.refresh().scan().to_arrow()["n"].to_pylist()) == [0, 8]
    refused = (
        "AND t.x.a > s.n THEN DELETE",
        "THEN UPDATE SET n = t.x.a + s.n",
        "THEN UPDATE SET x = s.x",
        "AND size(array(t.n, s.n)) > 1 THEN DELETE",
    )
    for clause in refused:
        with pytest.raises(NotTranslatedError):
            changes.run(f"{merge} {clause}", sources)
    with pytest.raises(PaimonError):
        changes.run(f"{merge} AND s.n.a > 1 THEN DELETE", sources)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE db.t SET x.a = 5",
        "UPDATE db.t SET n = x.a",
        "DELETE FROM db.t WHERE x.a > 7 AND n + n > 0",
        "UPDATE db.t SET n = size(array(n))",
        "DELETE FROM db.t WHERE date_add(DATE'2026-01-01', n) > DATE'2026-01-02'",
    ],
)
def test_what_verbs_do_not_compute_is_left_to_spark(sql: str, tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "INT", "n": "INT", "x": "ROW<a INT, c STRING>"})

    with pytest.raises(NotTranslatedError):
        run(catalog, sql)


def test_conditions_on_columns_in_files_of_their_own_are_left_to_spark(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    apart = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    table = catalog.create_table("db.t", {"id": "INT", "n": "INT"}, options=apart)
    table.write([{"id": 1, "n": 2}, {"id": 2, "n": 2}])

    run(catalog, "UPDATE db.t SET n = 5 WHERE id > 1")
    with pytest.raises(NotTranslatedError, match="data-evolution"):
        run(catalog, "UPDATE db.t SET n = 7 WHERE n > id")

    assert sorted(table.refresh().scan().to_arrow()["n"].to_pylist()) == [2, 5]


@pytest.mark.parametrize("kind", ["ARRAY<INT>", "MAP<STRING, INT>", "STRUCT<a: INT>"])
def test_casts_to_nested_types_are_left_to_spark(kind: str, catalog: Catalog) -> None:
    with pytest.raises(NotTranslatedError, match="the type"):
        run(catalog, f"INSERT INTO db.t SELECT 1, CAST(NULL AS {kind}), 2")


@pytest.mark.parametrize(
    "condition", ["p IS NULL", "p <=> NULL", "coalesce(p, 'x') = 'x'", "NOT (p <=> 'p1')"]
)
@pytest.mark.parametrize("verb", ["DELETE FROM db.one", "UPDATE db.one SET p = 'new'"])
def test_nulls_beside_one_text_are_those_that_change(
    condition: str, verb: str, tmp_path: Path
) -> None:
    """DuckDB 2.0 may take the other text for NULL, see `arithmetic.truth_beside_null`."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.write_table("db.one", pa.table({"id": [0, 1], "p": [None, "p1"]}))

    run(catalog, f"{verb} WHERE {condition}")

    found = catalog.table("db.one").scan().to_arrow().sort_by("id").to_pylist()
    changed = [] if verb.startswith("DELETE") else [{"id": 0, "p": "new"}]
    assert found == [*changed, {"id": 1, "p": "p1"}]
