"""SQL from a shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import paimonlab as pl
from paimonlab.cli.main import main
from tests.cli.conftest import Run

TOTALS = "SELECT dt, count(*) AS n, sum(amount) AS total FROM db.orders GROUP BY dt ORDER BY dt"


def test_a_query_is_answered_in_each_form(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    found = [
        json.loads(line) for line in run("sql", str(tmp_path), TOTALS, "--json").output.split()
    ]
    text = run("sql", str(tmp_path), TOTALS).output.splitlines()

    assert found == [
        {"dt": "2026-01-01", "n": 2, "total": "3.00"},
        {"dt": "2026-01-02", "n": 1, "total": "1.50"},
    ]
    assert text[0].split() == ["dt", "n", "total"]
    csv = run("sql", str(tmp_path), TOTALS, "--format", "csv").output
    assert csv == '"dt","n","total"\n"2026-01-01",2,3.00\n"2026-01-02",1,1.50\n'


def test_a_table_of_rows_says_that_there_are_more(
    run: Run, orders: pl.Table, tmp_path: Path
) -> None:
    query = ("sql", str(tmp_path), "SELECT id FROM db.orders ORDER BY id")
    found = run(*query, "-n", "2")

    assert found.stdout.split() == ["id", "--", "1", "2"]
    assert found.stderr == "more than 2 rows; -n shows more\n"
    assert run(*query, "-n", "3").stderr == ""


def test_a_delete_without_where_takes_all_rows(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    done = run("sql", str(tmp_path), "DELETE FROM db.orders")

    assert (done.exit_code, orders.scan().count()) == (0, 0)
    assert done.stderr == "db.orders: 3 rows deleted, snapshot 4\n"


def test_copies_of_others_are_answered_with_copy_into(
    run: Run, orders: pl.Table, tmp_path: Path
) -> None:
    done = run("sql", str(tmp_path), "COPY db.orders FROM 'a.csv'")

    assert (done.exit_code, "Write COPY INTO db.t FROM" in done.stderr) == (2, True)


def test_statements_write(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    merge = (
        "MERGE INTO db.orders t USING (SELECT DATE '2026-01-05' AS dt, 5 AS id) s "
        "ON t.dt = s.dt AND t.id = s.id WHEN MATCHED THEN UPDATE SET note = 'merged'"
    )
    first = orders.snapshots.ids()[-1] + 1
    for statement, said in (
        (
            "INSERT INTO db.orders VALUES (DATE '2026-01-05', 5, 2.5, 'new')",
            f"1 row written, snapshot {first}",
        ),
        (merge, f"0 inserted, 1 updated, 0 deleted, snapshot {first + 1}"),
        ("UPDATE db.orders SET note = 'seen' WHERE id = 5", f"1 row updated, snapshot {first + 2}"),
        ("DELETE FROM db.orders WHERE id < 5", f"3 rows deleted, snapshot {first + 3}"),
        ("DELETE FROM db.orders WHERE id < 5", "no row was changed"),
    ):
        done = run("sql", str(tmp_path), statement)
        assert (done.exit_code, done.stdout) == (0, "")
        assert done.stderr == f"db.orders: {said}\n"
    copied = "CREATE TABLE db.copy AS SELECT id, note FROM db.orders"
    assert run("sql", str(tmp_path), copied).stderr == "db.copy: 1 row inserted, snapshot 1\n"
    copy = pl.connect(tmp_path).table("db.copy")
    assert copy.scan().to_arrow().to_pylist() == [{"id": 5, "note": "seen"}]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT * FROM db.nothing", "not found"),
        ("SELECT * FROM orders", "as database.orders. Did you mean 'db.orders'?"),
        ("SHOW TABLES", "needs the name of a database. Write SHOW TABLES IN db"),
        ("SELECT FROM WHERE", "at 'WHERE' in line 1. Something is missing after WHERE. If"),
        ("SELECT rand() FROM db.orders", "rand"),
        ("SELECT * FROM db.orders WHERE note = 'x", "The quote ' that begins here"),
        ("SELECT * FROM db.orders WHERE", "at 'WHERE' in line 1. Something is missing"),
        ("SELECT approx_count_distinct(1)", "paimonlab.spark.connect"),
        ("EXPLAIN EXTENDED SELECT 1", "EXPLAIN EXTENDED"),
        ("LOAD DATA 'a.csv' INTO db.orders", "Write INSERT INTO"),
        ("ALTER TABLE db.orders CREATE TAG v1", "Write CALL sys.create_tag(table => 'db.orders'"),
        ("CALL system.rewrite_data_files('db.orders')", "Write sys.compact"),
        ("CALL lake.system.rewrite_data_files('db.orders')", "CALL sys.compact("),
        ("SELECT * FROM db.orders.history", "written db.orders$snapshots"),
        ("SELECT id $ FROM db.orders", "A $ is neither in a name"),
        ("DELETE FROM db.orders$files WHERE id = 1", "writing to a system table"),
        ("", ""),
    ],
)
def test_what_is_wrong_is_one_line(
    statement: str, said: str, run: Run, orders: pl.Table, tmp_path: Path
) -> None:
    found = run("sql", str(tmp_path), statement)

    assert found.exit_code in {1, 2}, found.output
    assert said.lower() in found.output.lower()
    assert found.exception is None or isinstance(found.exception, SystemExit)


def test_a_statement_comes_from_standard_input(orders: pl.Table, tmp_path: Path) -> None:
    found = CliRunner().invoke(main, ["sql", str(tmp_path), "-", "--json"], input="SELECT 1 AS a")

    assert found.output == '{"a":1}\n'


def test_definitions_and_calls_are_run(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    made = "CREATE TABLE db.made (id INT, PRIMARY KEY (id)) TBLPROPERTIES ('bucket' = '1')"
    assert run("sql", str(tmp_path), made).stderr == "done\n"
    assert pl.connect(tmp_path).table("db.made").primary_keys == ("id",)
    answer = run("sql", str(tmp_path), "CALL sys.create_tag('db.orders', 'v1')", "--json").output
    assert json.loads(answer) == {"result": True}
    assert list(orders.tags) == ["v1"]


def test_a_column_between_double_quotes_is_told_of(
    run: Run, orders: pl.Table, tmp_path: Path
) -> None:
    grouped = 'SELECT "id", count(*) AS n FROM db.orders GROUP BY "id"'
    done = run("sql", str(tmp_path), grouped)
    assert done.stdout.split()[-2:] == ["id", "3"]
    assert done.stderr == '"id" is a text in Spark\'s SQL; a column is written `id`\n'
    assert run("sql", str(tmp_path), grouped.replace('"', "`")).stderr == ""

    refused = run("sql", str(tmp_path), "UPDATE db.orders SET note = 'a' WHERE \"id\" = 5")
    assert "'id' is a text; a column is written `id`" in refused.stderr


def test_numbers_beside_texts_of_a_file_are_told_of(
    run: Run, orders: pl.Table, tmp_path: Path
) -> None:
    file = tmp_path / "names.csv"
    file.write_text("nr,name\n001,Ada\n002,Grace\n")
    query = f"SELECT name FROM db.orders o JOIN '{file}' n ON o.id = {{}} WHERE o.id = 2"

    refused = run("sql", str(tmp_path), query.format("n.nr"))
    assert "Compare with a number: CAST(nr AS BIGINT)" in refused.stderr
    followed = run("sql", str(tmp_path), query.format("CAST(n.nr AS BIGINT)"))
    assert followed.stdout.split()[-1] == "Grace"


def test_a_plan_is_printed_whole(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    done = run("sql", str(tmp_path), "EXPLAIN SELECT sum(amount) FROM db.orders")

    assert "== Read ==" in done.stdout.splitlines()
    assert "…" not in done.stdout


def test_rows_beyond_those_shown_are_told_of(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    more = "more than 2 rows; -n shows more\n"
    where = (str(tmp_path), "db.orders")

    for command in (("scan", *where), ("changes", *where, "0")):
        assert run(*command, "-n", "2").stderr == more
        assert len(run(*command, "-n", "2").stdout.splitlines()) == 4
        assert run(*command, "-n", "2", "--json").stderr == ""
        assert len(run(*command, "-n", "2", "--json").stdout.splitlines()) == 2
        assert run(*command).stderr == ""
    assert run("scan", *where, "-n", "3").stderr == ""
    assert run("scan", *where, "-n", "0").stdout.splitlines()[0].split()[0] == "dt"
    assert run("scan", *where, "-n", "2", "--count").stdout == "2\n"


def test_an_optimize_says_what_it_did(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    done = run("sql", str(tmp_path), "OPTIMIZE db.orders")

    assert (done.exit_code, done.stdout.split()) == (0, ["result", "------", "true"])
    assert done.stderr.startswith("db.orders: ")
    assert run("sql", str(tmp_path), "OPTIMIZE db.orders").exit_code == 0


def test_options_of_other_systems_are_answered(run: Run, orders: pl.Table, tmp_path: Path) -> None:
    done = run("sql", str(tmp_path), "ALTER TABLE db.orders SET OPTIONS ('write-only' = 'false')")

    assert done.exit_code == 2
    assert "SET OPTIONS without Spark is not supported. Write SET TBLPROPERTIES (" in done.stderr
