"""What a profile shows of a table or of a query is what is in its rows."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab import notebook
from paimonlab.errors import ColumnNotFoundError
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.drawn import MIME
from paimonlab.notebook.kernel import determinism
from paimonlab.notebook.results.result import Result
from paimonlab.notebook.views import Profile, ProfileColumn
from paimonlab.notebook.views.profile import command
from paimonlab.notebook.views.profile.command import MOST_COLUMNS
from paimonlab.notebook.views.profile.value import FilesRead
from paimonlab.table.table import Table
from tests.golden.expected import Case
from tests.golden.test_rows import READ, open_table
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> paimonlab.Catalog:
    catalog = notebook.demo(tmp_path_factory.mktemp("demo")).catalog
    connections.disconnect()
    return catalog


@pytest.fixture
def orders(demo: paimonlab.Catalog) -> Table:
    table = demo.table("demo.orders")
    assert isinstance(table, Table)
    return table


def new_table(folder: Path, columns: dict[str, str], **more: Any) -> Table:
    catalog = paimonlab.connect(folder)
    catalog.create_database("db", exist_ok=True)
    return catalog.create_table("db.t", columns, **more)


def profiled(view: Any) -> dict[str, ProfileColumn]:
    value: Profile = view.value
    return {column.name: column for column in value.columns}


def without_last_digits(view: Any) -> Profile:
    """Leave out what depends on the order in which rows are summed up."""
    columns = tuple(
        msgspec.structs.replace(column, mean=None, standard_deviation=None)
        for column in view.value.columns
    )
    return msgspec.structs.replace(view.value, columns=columns)


NAMES = {"types_append", "types_pk", "pk_dv", "append_dv", "evo_parquet", "nested_append"}
GOLDEN = [case for case in READ if case.table in NAMES]


@pytest.mark.parametrize("case", GOLDEN, ids=str)
def test_counts_of_golden_tables_are_those_of_their_rows(case: Case) -> None:
    answers, table = open_table(case)

    view = table.show.profile()

    rows = table.scan().to_arrow()
    assert view.value.row_count == rows.num_rows == len(answers.latest)
    for name, column in profiled(view).items():
        assert column.null_count == rows[name].null_count
        if column.distinct_count is not None:
            assert column.distinct_count == len(rows[name].drop_null().unique())


def test_numbers_are_those_of_polars(orders: Table) -> None:
    columns = profiled(orders.show.profile())

    frame = pl.DataFrame(orders.scan().to_arrow())
    for name in ("order_id", "amount"):
        series, found = frame[name], columns[name]
        assert found.distinct_count == series.n_unique()
        assert (found.low, found.high) == (str(series.min()), str(series.max()))
        assert found.mean == pytest.approx(float(series.cast(pl.Float64).mean()))  # type: ignore[arg-type]
        assert found.standard_deviation == pytest.approx(series.cast(pl.Float64).std())
        assert sum(found.bins) == len(series)
    counts = frame["status"].value_counts(sort=True)
    assert [times for _, times in columns["status"].top] == counts["count"].to_list()[:5]
    assert columns["channel"].null_count == frame["channel"].null_count()


def test_values_that_floats_and_pandas_lose_are_told_in_full(tmp_path: Path) -> None:
    table = new_table(
        tmp_path,
        {
            "n": "BIGINT",
            "d": "DECIMAL(38, 2)",
            "t": "TIMESTAMP(6)",
            "f": "DOUBLE",
            "a": "ARRAY<INT>",
            "s": "STRING",
        },
    )
    rows = {
        "n": pa.array([2**53 + 1, 2**63 - 1, None], pa.int64()),
        "d": pa.array([Decimal("-0.01"), Decimal(10**35), None], pa.decimal128(38, 2)),
        "t": pa.array(
            [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23), None], pa.timestamp("us")
        ),
        "f": pa.array([math.nan, math.inf, None]),
        "a": pa.array([[1], [], None], pa.list_(pa.int32())),
        "s": pa.array(["", EVIL * 100, None]),
    }
    table.write(pa.table(rows))

    view = table.show.profile()

    found = profiled(view)
    assert {column.null_count for column in found.values()} == {1}
    assert (found["n"].low, found["n"].high) == ("9007199254740993", "9223372036854775807")
    assert found["n"].quantiles == ("9007199254740993",) * 3 + ("9223372036854775807",) * 2
    assert (found["d"].low, found["d"].high) == ("-0.01", f"{10**35}.00")
    assert (found["t"].low, found["t"].high) == ("0001-01-01 00:00:00", "9999-12-31 23:00:00")
    assert (found["f"].nan_count, found["f"].infinite_count, found["f"].mean) == (1, 1, None)
    assert (found["f"].distinct_count, found["f"].low) == (2, "Infinity")
    assert (found["a"].has_facts, found["a"].distinct_count) == (False, None)
    assert (found["s"].shortest, found["s"].longest) == (0, len(EVIL) * 100)
    assert len(found["s"].longest_text or "") == 200
    text = view.to_text()
    assert "9223372036854775807" in text
    assert "1 NaN, 1 infinite" in text


def test_a_condition_and_columns_are_kept_to(orders: Table) -> None:
    view = orders.show.profile(where="status = 'paid'", columns=["amount", "status"])

    rows = orders.scan(["amount", "status"], "status = 'paid'").to_arrow()
    assert view.value.row_count == rows.num_rows
    assert list(profiled(view)) == ["amount", "status"]
    assert profiled(view)["status"].top == (("paid", rows.num_rows),)
    assert "only rows with status = 'paid'" in view.to_text()


def test_a_condition_that_rules_out_no_file_is_kept_to(orders: Table) -> None:
    where = "upper(status) = 'PAID' AND amount + 1 > 1"

    view = orders.show.profile(where=where, columns=["amount"])

    rows = orders.scan(["amount"], where).to_arrow()
    assert 0 < rows.num_rows < orders.scan().count()
    assert view.value.row_count == rows.num_rows


def test_a_column_that_is_not_there_is_named_with_those_close(orders: Table) -> None:
    with pytest.raises(ColumnNotFoundError, match="amount"):
        orders.show.profile(columns=["amont"])


def test_what_statistics_settle_is_not_read(tmp_path: Path) -> None:
    table = new_table(
        tmp_path, {"one": "INT", "none": "BIGINT", "two": "INT", "text": "STRING", "f": "DOUBLE"}
    )
    for number in range(2):
        table.write(
            pa.table(
                {
                    "one": pa.array([7] * 5, pa.int32()),
                    "none": pa.nulls(5, pa.int64()),
                    "two": pa.array([number] * 5, pa.int32()),
                    "text": ["x"] * 5,
                    "f": [1.0] * 5,
                }
            )
        )

    settled = table.show.profile(columns=["one", "none"])
    mixed = table.show.profile()
    read = table.show.profile(where="one = 7")

    assert settled.value.notes == ("nothing read: 2 columns by statistics alone",)
    assert "2 columns by statistics alone" in mixed.value.notes[0]
    assert "statistics" not in read.value.notes[0]
    assert settled.value.row_count == mixed.value.row_count == 10
    assert mixed.value.columns == read.value.columns
    assert settled.value.columns == mixed.value.columns[:2]
    assert profiled(settled)["one"].top == (("7", 10),)


def test_many_files_are_sampled_and_statistics_are_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"p": "INT", "n": "BIGINT", "none": "INT", "f": "DOUBLE"}
    table = new_table(tmp_path, columns, partition_keys=["p"])
    for number in range(4):
        days = pa.array([*range(5)] * 2, pa.int32())
        values = pa.array([None, *range(100 * number, 100 * number + 9)], pa.int64())
        floats = pa.array([float(number)] * 10)
        table.write(
            pa.table({"p": days, "n": values, "none": pa.nulls(10, pa.int32()), "f": floats})
        )
    whole = without_last_digits(table.show.profile())
    monkeypatch.setattr(command, "MOST_FILES", 5)

    view = table.show.profile()
    found = profiled(view)

    assert view.value.sample == FilesRead(file_count=5, of_files=20, of_rows=40)
    assert "4 columns, from 5 of 20 files (10 of 40 rows)" in view.to_text()
    assert view.value.notes[0] == (
        "from statistics of all rows: nulls of p, n, none, f; min and max of p, n"
    )
    rows = table.scan().to_arrow()
    assert (found["n"].all_nulls, found["n"].all_low, found["n"].all_high) == (
        rows["n"].null_count,
        str(pc.min(rows["n"])),
        str(pc.max(rows["n"])),
    )
    assert (found["none"].null_count, found["none"].all_nulls) == (10, 40)
    assert sum(times for _, times in found["p"].top) == 10
    assert found["f"].all_low is None
    assert without_last_digits(view) == without_last_digits(table.show.profile())
    everything = without_last_digits(table.show.profile(all_files=True))
    assert everything == whole
    some = table.show.profile(where="abs(n) >= 0").value  # a condition that rules out no file
    assert some.sample == FilesRead(file_count=5, of_files=20, of_rows=None)
    assert some.columns[1].all_nulls is None
    few = table.show.profile(where="p = 3").value
    assert (few.sample, few.row_count) == (None, 8)


def test_files_that_are_merged_are_sampled_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(
        tmp_path, {"k": "INT NOT NULL", "v": "INT"}, primary_keys=["k"], options={"bucket": "4"}
    )
    for value in range(3):
        keys = pa.array(range(40), pa.int32())
        table.write(pa.table({"k": keys, "v": pa.array([value] * 40, pa.int32())}))
    monkeypatch.setattr(command, "MOST_FILES", 7)

    view = table.show.profile()

    assert view.value.sample == FilesRead(file_count=6, of_files=12, of_rows=None)
    assert profiled(view)["v"].top == (("2", view.value.row_count),)
    assert 0 < view.value.row_count < 40
    assert f"from 6 of 12 files ({view.value.row_count} rows)" in view.to_text()


def test_statistics_of_rows_that_are_merged_or_deleted_settle_nothing(tmp_path: Path) -> None:
    table = new_table(
        tmp_path, {"k": "INT NOT NULL", "v": "INT"}, primary_keys=["k"], options={"bucket": "1"}
    )
    for value in (1, 1):
        rows = {"k": pa.array([1, 2], pa.int32()), "v": pa.array([value] * 2, pa.int32())}
        table.write(pa.table(rows))

    found = table.show.profile()

    assert found.value.row_count == 2
    assert profiled(found)["v"].top == (("1", 2),)
    assert "statistics" not in found.value.notes[0]


def test_a_wide_table_and_long_texts_stay_small(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(MOST_COLUMNS + 50)]
    table = new_table(tmp_path, dict.fromkeys(names, "STRING"))
    table.write(pa.table({name: ["x" * 20_000, "y" * 20_000] for name in names}))

    view = table.show.profile()

    assert len(view.value.columns) == MOST_COLUMNS
    assert f"the first {MOST_COLUMNS} of {len(names)} columns" in view.to_text()
    assert len(json.dumps(view.data())) < 500_000
    assert len(view.to_html()) < 1_000_000


def test_an_empty_table_has_a_profile(tmp_path: Path) -> None:
    view = new_table(tmp_path, {"a": "INT", "m": "MAP<STRING, INT>"}).show.profile()

    assert view.value.row_count == 0
    assert "db.t: columns\n0 rows, 2 columns" in view.to_text()
    assert "Rows are added by INSERT INTO db.t VALUES …" in view.to_text()
    assert "Rows are added by INSERT INTO db.t VALUES …" in view.to_html()
    assert Page(view.to_html()).tags <= KEPT_TAGS


def test_html_keeps_to_what_sanitisers_leave_and_alt_text_has_the_numbers(tmp_path: Path) -> None:
    table = new_table(tmp_path, {EVIL: "STRING", "n": "INT"})
    table.write(pa.table({EVIL: [EVIL, EVIL], "n": pa.array([1, 30], pa.int32())}))
    drawn = table.show.profile()

    html = drawn.to_html()

    page = Page(html)
    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "n in ranges from 1 on: 1, 0, 0" in html
    ET.fromstring(base64.b64decode(html.split("base64,")[1].split('"')[0]))
    assert drawn.to_arrow()["null_count"].to_pylist() == [0, 0]


def test_bytes_are_hidden_where_outputs_are_compared(
    orders: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert " kB read" in orders.show.profile().to_text()
    monkeypatch.setenv(determinism.VARIABLE, "1")

    assert " data files read" in orders.show.profile().to_text()


def test_the_magic_writes_a_report(
    shell: InteractiveShell, demo: paimonlab.Catalog, tmp_path: Path
) -> None:
    notebook.demo(demo.path)
    report = tmp_path / "the report.html"

    line = f"demo.orders -o '{report}' --where 'order_id < 10' --columns amount,status"
    view = shell.run_line_magic("paimon_profile", line)

    assert view.value.row_count == demo.table("demo.orders").scan(None, "order_id < 10").count()
    assert MIME in view._repr_mimebundle_()
    assert '"kind":"profile"' in report.read_text(encoding="utf-8").replace(" ", "")
    with pytest.raises(UsageError, match="no column"):
        shell.run_line_magic("paimon_profile", "demo.orders --columns nothing")


def test_a_query_without_spark_is_profiled_over_all_its_rows(
    shell: InteractiveShell, demo: paimonlab.Catalog
) -> None:
    connections.connect(demo.path, engine="native")
    cell = "SELECT amount, status FROM demo.orders WHERE order_id < 100"

    view = shell.run_cell_magic("paimon", "kept << --profile --limit 3", cell)

    assert isinstance(shell.user_ns["kept"], Result)
    assert len(shell.user_ns["kept"]) == 3
    table = demo.table("demo.orders")
    assert isinstance(table, Table)
    assert view.value.row_count == table.scan(None, "order_id < 100").count()
    assert view.value.title == cell
    counted = shell.run_cell_magic("paimon", "k << --profile", "SELECT count(*) FROM demo.orders")
    assert profiled(counted)["count(1)"].high == "107"
    system = shell.run_cell_magic("paimon", "k << --profile", "SELECT * FROM demo.orders$snapshots")
    assert system.value.row_count == len(table.snapshots.list())


def test_long_texts_that_are_not_counted_are_told(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"short": "STRING", "long": "STRING"})
    table.write(pa.table({"short": ["ü" * 128] * 3, "long": ["ü" * 129, "ü" * 129, None]}))
    told = "most frequent: without texts of more than 256 bytes"

    view = table.show.profile()

    assert told in view.value.notes
    assert [len(column.top) for column in view.value.columns] == [1, 0]
    assert told not in table.show.profile(columns=["short"]).value.notes


ROWS = """
SELECT * FROM VALUES
  (1, 9007199254740993, 1.5D, CAST('2026-01-01' AS DATE), 'a', array(1), INTERVAL '1' YEAR),
  (2, NULL, double('NaN'), CAST('0001-01-01' AS DATE), 'b', NULL, NULL),
  (3, 9223372036854775807, double('Infinity'), NULL, 'b', array(), INTERVAL '2' YEAR)
AS rows(i, n, f, d, `<b>`, nested, months)
"""


def test_spark_says_what_a_native_read_of_the_same_rows_says(
    connected: InteractiveShell, tmp_path: Path
) -> None:
    view = connected.run_cell_magic("paimon", "kept << --profile --limit 1", ROWS)

    assert len(connected.user_ns["kept"]) == 1
    found = profiled(view)
    assert view.value.row_count == 3
    assert (found["n"].low, found["n"].high) == ("9007199254740993", "9223372036854775807")
    assert (found["f"].nan_count, found["f"].infinite_count, found["f"].mean) == (1, 1, 1.5)
    assert found["d"].low == "0001-01-01"
    assert found["<b>"].top == (("b", 2),)
    assert [found[name].null_count for name in ("nested", "months")] == [1, 1]
    assert not found["nested"].has_facts
    table = new_table(
        tmp_path, {"i": "INT", "n": "BIGINT", "f": "DOUBLE", "d": "DATE", "<b>": "STRING"}
    )
    whole = connected.user_ns["kept"].spark.select("i", "n", "f", "d", "<b>").toArrow()
    table.write(whole)
    assert table.show.profile().value.columns == view.value.columns[:5]


def test_many_partitions_are_one_profile(connected: InteractiveShell) -> None:
    query = "SELECT id, id % 10 AS ten, CAST(id AS STRING) AS s FROM range(0, 30000, 1, 7)"

    first = connected.run_cell_magic("paimon", "k << --profile", query)
    again = connected.run_cell_magic("paimon", "k << --profile", query)

    found = profiled(first)
    assert first.value == again.value
    assert first.value.row_count == 30_000
    assert found["id"].mean == 14_999.5
    assert found["id"].distinct_count == pytest.approx(30_000, rel=0.055)
    assert not found["id"].is_distinct_exact
    assert found["ten"].top == tuple((str(number), 3_000) for number in range(5))
    assert sum(found["id"].bins) == 30_000
    assert "≈" in first.to_text()


def test_no_rows_of_spark_are_a_profile(connected: InteractiveShell) -> None:
    view = connected.run_cell_magic("paimon", "k << --profile", "SELECT id FROM range(0)")

    assert view.value.row_count == 0


def test_only_queries_are_profiled_and_errors_keep_their_caret(connected: InteractiveShell) -> None:
    with pytest.raises(QueryError, match="--profile is for queries"):
        connected.run_cell_magic("paimon", "--profile", "SHOW TABLES")
    with pytest.raises(QueryError, match="`nothing` cannot be resolved"):
        connected.run_cell_magic("paimon", "--profile", "SELECT nothing FROM range(3)")
