"""What the interactive table of a result carries."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.interchange import from_dataframe

from paimonlab.notebook.display.drawn import MIME
from paimonlab.notebook.results.column_facts import column_facts, ranks
from paimonlab.notebook.results.table import drawing
from tests.notebook.results.test_result import make

EVIL = "</script><b>\u202ex"


def view(table: pa.Table) -> Any:
    return make(table)._repr_mimebundle_()[MIME]["view"]


def test_cells_are_the_texts_that_are_shown_and_null_is_null() -> None:
    table = pa.table(
        {
            "n": [2**53 + 1, None, 1],
            "x": [float("nan"), None, 0.5],
            "s": ["", None, "NULL"],
            "d": [Decimal("1.20"), None, Decimal("-3.00")],
        }
    )

    assert view(table)["rows"] == [
        ["9007199254740993", "NaN", "''", "1.20"],
        [None, None, None, None],
        ["1", "0.5", "'NULL'", "-3.00"],
    ]


def test_a_column_is_summarised() -> None:
    table = pa.table({"x": [1.0, float("nan"), None, 4.0, 1.0], "s": ["b", "a", None, "b", ""]})

    x, s = view(table)["columns"]

    assert (x["nullCount"], x["nanCount"], x["distinctCount"]) == (1, 1, 3)
    assert (x["low"], x["high"]) == ("1.0", "4.0")
    assert x["bins"][0] == 2
    assert x["bins"][-1] == 1
    assert sum(x["bins"]) == 3
    assert (s["low"], s["high"], s["distinctCount"]) == ("''", "b", 3)
    assert s["top"][0] == ["b", 2]
    assert not s["bins"]


@pytest.mark.parametrize(
    ("values", "low", "high", "total"),
    [
        (pa.array([2**63 - 1, -(2**63)]), "-9223372036854775808", "9223372036854775807", 2),
        (pa.array([1e308, -1e308]), "-1e+308", "1e+308", 0),
        (pa.array([float("inf"), 1.0, 2.0]), "1.0", "Infinity", 2),
        (pa.array([Decimal("9" * 38)]), "9" * 38, "9" * 38, 0),
        (pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31)]), "0001-01-01", "9999-12-31", 2),
        (pa.array([None, None], pa.int32()), None, None, 0),
        (pa.array([], pa.timestamp("us", "UTC")), None, None, 0),
        (pa.array([True, False, True]), "false", "true", 0),
        (pa.array([None, None]), None, None, 0),
        (pa.array([dt.timedelta(1), None, -dt.timedelta(2)]), "-2 0:00:00", "1 0:00:00", 2),
        (pa.array([dt.time(1), dt.time(0)], pa.time64("ns")), "00:00:00", "01:00:00", 2),
        (pa.array([2**64 - 1, 0], pa.uint64()), "0", "18446744073709551615", 2),
        (pa.array([b"\xff", b""]), "0x", "0xff", 0),
        (pa.array([b"ab"], pa.binary(2)), None, None, 0),
        (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), None, None, 0),
        (pa.array(["a"]).dictionary_encode(), None, None, 0),
    ],
)
def test_ends_of_a_type_are_no_trouble(
    values: pa.Array, low: str | None, high: str | None, total: int
) -> None:
    (column,) = view(pa.table({"v": values}))["columns"]

    assert (column["low"], column["high"]) == (low, high)
    assert sum(column["bins"]) == total


def test_nested_values_have_no_order_and_open_as_trees() -> None:
    kind = pa.struct([("a", pa.list_(pa.int32())), ("m", pa.map_(pa.string(), pa.float64()))])
    values: list[Any] = [{"a": [1, None], "m": [("k", 0.5)]}, None, {"a": [], "m": None}]

    (column,) = view(pa.table({"v": pa.array(values, kind)}))["columns"]

    assert column["cells"]["trees"] == [
        ["struct", ["a", ["list", "1", None]], ["m", ["map", ["k", "0.5"]]]],
        None,
        ["struct", ["a", ["list"]], ["m", None]],
    ]
    assert column["distinctCount"] is None
    assert column_facts(pa.chunked_array([pa.array([[1], None])])).null_count == 1


def test_rows_whose_cells_sort_otherwise_carry_their_order() -> None:
    table = pa.table(
        {
            "s": [" a", "b", "A"],
            "t": pa.array([0, -62135596800000000, 253402300799000000], pa.timestamp("us")),
            "n": [10, 9, 100],
        }
    )

    s, t, n = view(table)["columns"]

    assert s["ranks"] is None
    assert s["cells"]["exact"] == [[0, " a"]]
    assert t["ranks"] == [2, 1, 3]
    assert n["ranks"] is None
    assert n["isNumber"]
    assert ranks(pa.chunked_array([pa.array([[1]])])) is None


def test_data_is_bounded_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "DATA_BYTES", 2_000)
    monkeypatch.setattr(drawing, "LEAST_ROW_BYTES", 1_000)
    table = pa.table({"n": range(1_000), "s": ["x" * 10] * 1_000})

    shown = view(table)

    assert 10 < len(shown["rows"]) < 100
    assert shown["rowCount"] == 1_000
    assert shown["footer"].startswith(f"the first {len(shown['rows'])} are here, the kernel")
    assert shown["columns"][0]["high"] == "999"


def test_a_long_cell_is_cut_and_says_so() -> None:
    shown = view(pa.table({"s": ["x" * 5_000, "y"]}))

    assert shown["rows"][0][0].endswith("xx… 3,000 more characters")
    assert shown["columns"][0]["cells"]["cut"] == [0]
    assert shown["columns"][0]["ranks"] == [1, 2]


def test_the_data_of_the_largest_drawn_result_stays_small() -> None:
    table = pa.table({f"c{place}": ["lorem ipsum dolor " * 5] * 9_000 for place in range(5)})
    nested = pa.table(
        {f"v{place}": [[{"a": place, "b": ["x"] * 20}]] * 9_000 for place in range(5)}
    )
    wide = pa.table({f"c{place}": [f"{one}" * 40 for one in range(100)] for place in range(400)})

    for every in (table, nested, wide):
        assert len(json.dumps(make(every)._repr_mimebundle_()[MIME])) < 500_000


def test_hostile_names_and_values_stay_text() -> None:
    result = make(pa.table({EVIL: [EVIL]}))

    assert result._repr_mimebundle_()[MIME]["view"]["rows"] == [["</script><b>\\u202ex"]]
    assert EVIL not in result.to_html()


def test_a_page_of_its_own_holds_the_rows(tmp_path: Any) -> None:
    page = make(pa.table({"s": [EVIL]})).view.save(tmp_path / "rows.html").read_text()

    assert page.count("</script>") == 2
    assert '"kind": "result"' in page


def test_readers_of_the_interchange_protocol_get_the_rows() -> None:
    result = make(pa.table({"n": [1, 2]}))

    assert from_dataframe(result).to_pydict() == {"n": [1, 2]}
