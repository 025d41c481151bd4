from __future__ import annotations

from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

from paimonlab.notebook.display.drawn import PLOTLY_TYPE
from paimonlab.notebook.results.plotting.bar_chart import bar_chart
from paimonlab.notebook.results.plotting.bar_picture import Values, alternative, drawn
from tests.notebook.results.test_result import make

ROWS = pa.table({"carrier": ["AA", "<B>"], "before": [8.6, 12.0], "after": [0.4, None]})
NAMES = {"before": "at departure", "after": "at arrival"}


def test_a_chart_is_also_a_picture_and_a_table() -> None:
    result = make(ROWS)

    bundle = bar_chart(result, label="carrier", values=NAMES, title="minutes")._repr_mimebundle_()

    assert [trace["name"] for trace in bundle[PLOTLY_TYPE]["data"]] == list(NAMES.values())
    assert bundle["text/html"].startswith('<img src="data:image/svg+xml;base64,')
    assert bundle["text/html"].endswith(result.to_html())
    assert bundle["text/plain"] == repr(result)
    assert "<script" not in bundle["text/html"]


def test_an_arrow_table_is_drawn_as_a_result_of_its_rows_is() -> None:
    chart = bar_chart(ROWS, label="carrier", values=NAMES, title="minutes")

    assert repr(chart).splitlines()[3:] == [*repr(make(ROWS)).splitlines()[3:5], "2 rows"]
    assert "&lt;B&gt;" in chart.to_html()
    assert "| \\<B\\> |" in chart.to_markdown()


def test_the_numbers_are_in_the_picture_and_in_its_words() -> None:
    series: dict[str, Values] = {"at departure": [8.6, -12.0], "at arrival": [0.4, None]}

    picture = ET.fromstring(drawn("minutes & <seconds>", ["AA", "<B>"], series))

    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [
        *("minutes & <seconds>", "at departure", "at arrival", "AA", "8.6", "0.4", "<B>", "-12.0"),
    ]
    assert alternative("minutes", ["AA", "<B>"], series) == (
        "minutes: AA at departure 8.6, at arrival 0.4; <B> at departure -12.0, at arrival unknown"
    )


def test_whole_numbers_have_no_decimals() -> None:
    series: dict[str, Values] = {"files": [1768.0, 3.0, None]}

    assert (
        alternative("t", ["a", "b", "c"], series) == "t: a files 1,768; b files 3; c files unknown"
    )
    assert ">1,768</text>" in drawn("t", ["a", "b", "c"], series)


@pytest.mark.parametrize("label", ["events in the order of dest", "a name of many words " * 4])
def test_labels_stay_in_the_picture(label: str) -> None:
    picture = ET.fromstring(drawn("t", ["a", label], {"s": [1.0, 2.0]}))

    *_, (left, name) = [
        (float(text.get("x", "0")), text.text or "")
        for text in picture.iter("{http://www.w3.org/2000/svg}text")
        if text.get("text-anchor") == "end"
    ]
    assert left >= 6 * len(name)
    assert name == label or "…" in name
    for bar in list(picture.iter("{http://www.w3.org/2000/svg}rect"))[2:]:
        assert left < float(bar.get("x", "0"))
        assert float(bar.get("x", "0")) + float(bar.get("width", "0")) <= 760


def test_bars_stay_in_the_picture() -> None:
    picture = ET.fromstring(drawn("t", ["a", "b"], {"s": [-1000.0, 3000.0]}))

    for bar in list(picture.iter("{http://www.w3.org/2000/svg}rect"))[1:]:
        assert float(bar.get("x", "-1")) >= 0
        assert float(bar.get("x", "0")) + float(bar.get("width", "0")) <= 760


@pytest.mark.parametrize("values", [{}, dict.fromkeys("abcde", "x")])
def test_what_cannot_be_drawn_is_refused(values: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="a bar chart needs rows and 1 to 4 columns"):
        bar_chart(make(ROWS), label="carrier", values=values, title="t")


def test_no_rows_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="got 0 rows"):
        bar_chart(make(ROWS.slice(0, 0)), label="carrier", values=NAMES, title="t")
