from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

from paimonlab.notebook.display.drawn import MIME
from paimonlab.notebook.results import result as results
from paimonlab.notebook.results.result import PartialResultWarning, Result, Stats


def make(
    table: pa.Table,
    types: Sequence[str] = (),
    *,
    has_more_rows: bool = False,
    duration_seconds: float = 0.42,
    said: str = "",
) -> Result:
    return Result(
        table,
        types=types or [str(field.type) for field in table.schema],
        sql="SELECT …",
        title="CREATE TABLE",
        stats=Stats(
            row_count=table.num_rows,
            has_more_rows=has_more_rows,
            fetched_bytes=table.nbytes,
            duration_seconds=duration_seconds,
        ),
        spark=cast("DataFrame", None),
        said=said,
    )


@pytest.fixture
def table() -> pa.Table:
    return pa.table({"n": pa.array([2**53 + 1, None]), "s": ["a", ""]})


def test_the_rows_are_arrow_and_anything_that_reads_arrow_takes_them(table: pa.Table) -> None:
    result = make(table)

    assert result.to_arrow() is table
    assert pa.table(result) == table
    assert pl.DataFrame(result).equals(pl.DataFrame(table))
    assert result.to_polars()["n"].to_list() == [2**53 + 1, None]
    assert len(result) == 2


def test_pandas_keeps_digits_and_nulls_of_integers(table: pa.Table) -> None:
    frame = make(table).to_pandas()

    assert frame["n"].dtype == pd.Int64Dtype()
    assert frame["n"][0] == 2**53 + 1
    assert frame["n"][1] is pd.NA


def test_text_and_html_have_the_same_cells(table: pa.Table) -> None:
    bundle = make(table)._repr_mimebundle_()

    assert bundle["text/plain"].splitlines() == [
        "               n  s",
        "           int64  string",
        "────────────────  ──────",
        "9007199254740993  a",
        "            NULL  ''",
        "2 rows; fetched 26 B in 0.4 s",
    ]
    for cell in ("9007199254740993", ">NULL</i>", "''", "2 rows; fetched 26\xa0B in 0.4\xa0s"):
        assert cell.replace("'", "&#x27;") in bundle["text/html"]


def test_html_groups_digits_and_shortens_fractions_as_the_interactive_table_does() -> None:
    numbers = pa.table(
        {"i": [1234, 336_776], "d": [0.1 + 0.2, 12_345.5], "s": ["123456", "0.30000000000000004"]}
    )

    html = make(numbers).to_html()

    found = re.findall(r"<td [^>]*?(?: title=\"([^\"]*)\")?>([^<]*)</td>", html)
    assert found == [
        *(("", "1234"), ("0.30000000000000004", "0.3"), ("", "123456")),
        *(("336776", "336,776"), ("12345.5", "12,345.5"), ("", "0.30000000000000004")),
    ]


def test_the_footer_says_that_there_is_more() -> None:
    result = make(pa.table({"n": range(100)}), has_more_rows=True)

    assert repr(result).endswith(
        "showing 100 of >100 rows; --limit 0 for all; fetched 800 B in 0.4 s"
    )


def test_one_row_is_a_row() -> None:
    assert repr(make(pa.table({"n": [1]}))).endswith("\n1 row; fetched 8 B in 0.4 s")


def test_no_rows_still_show_the_columns() -> None:
    result = make(pa.table({"n": pa.array([], pa.int64())}))

    assert repr(result).splitlines() == ["    n", "int64", "─────", "0 rows; fetched 0 B in 0.4 s"]


def test_a_large_result_is_shown_cut_and_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "CELLS_SHOWN", 20)
    result = make(pa.table({"n": range(50), "m": range(50)}))

    assert repr(result).endswith(
        "showing 10 of 50 rows; to_arrow() has all; fetched 800 B in 0.4 s"
    )
    assert result.to_html().count("<tr>") == 11
    assert result.to_arrow().num_rows == 50


def test_a_command_is_one_line() -> None:
    result = make(pa.table({}))

    assert repr(result) == "CREATE TABLE: done in 0.4 s"
    assert "CREATE TABLE: done in 0.4\xa0s" in result.to_html()
    assert result.to_markdown() == "CREATE TABLE: done in 0.4 s\n"


def test_deterministic_mode_hides_durations_and_leaves_rows_alone(
    table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMONLAB_DETERMINISTIC", "1")

    fast, slow = make(table, duration_seconds=0.1), make(table, duration_seconds=99)

    assert fast.to_html() == slow.to_html()
    assert fast.view.value == slow.view.value
    assert repr(fast).endswith("\n2 rows")
    assert repr(make(pa.table({}))) == "CREATE TABLE: done"


def test_a_switch_is_zero_or_one(table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAIMONLAB_DETERMINISTIC", "yes")

    with pytest.raises(ValueError, match="PAIMONLAB_DETERMINISTIC must be 0 or 1, got 'yes'"):
        repr(make(table))


@pytest.mark.parametrize(
    "take",
    [
        Result.to_arrow,
        Result.to_pandas,
        Result.to_polars,
        pa.table,
        lambda result: result.__dataframe__(),
    ],
)
def test_rows_of_a_query_that_has_more_are_not_taken_for_all(take: Callable[[Result], Any]) -> None:
    result = make(pa.table({"n": [1, 2]}), has_more_rows=True)

    with pytest.warns(PartialResultWarning, match="2 rows, and the query has more: --limit 0"):
        take(result)
    take(result)  # says so once


def test_a_result_that_is_cut_keeps_what_fits_and_says_how_to_have_all() -> None:
    texts = ["x" * 10_000, *["y"] * 20_000]
    skewed = pa.table({"s": pa.chunked_array([texts[:7], texts[7:]])})
    result = make(skewed)

    assert len(result.within(9_000)) == 0
    cut = result.within(80_000)
    assert len(cut) > 10_000
    assert 79_990 < cut.stats.fetched_bytes <= 80_000
    shown = f"showing 4,000 of {len(cut):,} rows; more exist, beyond --max-bytes; fetched 80.0 kB"
    assert f"\n{shown} in " in cut.to_text()
    with pytest.warns(PartialResultWarning, match="has more: --to FILE writes all"):
        cut.to_arrow()
    assert result.within(skewed.nbytes) is result


def test_a_text_to_read_is_shown_as_it_is() -> None:
    lines = ["CREATE TABLE shop.orders (", f"  {'a_long_name_' * 10} BIGINT)", "\x1b[31mred"]
    document = pa.table({"createtab_stmt": ["\n".join(lines) + "\n"]})
    bundle = make(document)._repr_mimebundle_()

    assert list(bundle) == ["text/html", "text/plain"]
    assert bundle["text/plain"].splitlines()[:3] == [*lines[:2], "\\x1b[31mred"]
    assert f">{lines[0]}\n{lines[1]}\n" in bundle["text/html"]
    assert MIME in make(pa.table({"plan": ["a", "b"]}))._repr_mimebundle_()


def test_a_result_with_rows_says_what_was_done() -> None:
    result = make(pa.table({"result": [True]}), said="db.t: nothing to compact")

    for text in (result.to_text(), result.to_html(), result.to_markdown()):
        assert "db.t: nothing to compact; 1 row" in text
