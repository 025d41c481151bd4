"""A table through time is what scans of its snapshots say."""

from __future__ import annotations

import base64
import datetime as dt
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from msgspec import structs

import paimonlab
from paimonlab import notebook
from paimonlab.errors import UnsupportedError
from paimonlab.notebook.kernel import determinism
from paimonlab.notebook.views.travel.picture import picture
from paimonlab.notebook.views.travel.value import MOST_STOPS, TravelStop, spread, stops
from paimonlab.table.table import Table
from tests.analysis.snapshots.made_snapshots import snapshot
from tests.golden.expected import Case
from tests.golden.test_rows import READ, open_table
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> paimonlab.Catalog:
    return notebook.demo(tmp_path_factory.mktemp("demo")).catalog


@pytest.fixture
def orders(demo: paimonlab.Catalog) -> Table:
    table = demo.table("demo.orders")
    assert isinstance(table, Table)
    return table


NAMES = {"append_dv", "cl_lookup", "evo_append", "evo_parquet", "expired", "incr", "ow", "pk_dv"}
HISTORIES = [case for case in READ if case.writer == "java-1.3.1" and case.table in NAMES]


@pytest.mark.parametrize("case", HISTORIES, ids=str)
def test_row_counts_are_those_that_java_reads(case: Case) -> None:
    answers, table = open_table(case)
    recorded = answers.snapshots

    view = table.show.travel(steps=50)

    counted = {step.snapshot_id: step.row_count for step in view.value.steps}
    both = set(counted) & set(recorded)
    assert both
    assert {one: counted[one] for one in both} == {one: len(recorded[one]) for one in both}


def test_rows_and_counts_are_those_of_a_scan(orders: Table) -> None:
    for step in orders.show.travel(steps=20, rows=5).value.steps:
        found = orders.scan(snapshot=step.snapshot_id).to_arrow()

        assert step.row_count == found.num_rows
        assert step.columns == tuple(found.column_names)
        first = found.sort_by([("dt", "ascending"), ("order_id", "ascending")]).slice(0, 5)
        ids = step.columns.index("order_id")
        assert [row[ids] for row in step.rows] == [str(n) for n in first["order_id"].to_pylist()]


def test_long_labels_are_left_out_but_for_the_newest(orders: Table) -> None:
    made = orders.show.travel(steps=13).value
    steps = [structs.replace(step, row_count=10**9) for step in made.steps]

    drawn = base64.b64decode(picture(structs.replace(made, steps=steps)).partition("base64,")[2])

    assert drawn.count(b"1,000,000,000") == -(-len(steps) // 3)


def test_an_aggregate_is_computed_at_each_step(orders: Table) -> None:
    view = orders.show.travel(sql="count(*) AS n, sum(amount) AS total", steps=3)

    for step in view.value.steps:
        found = orders.scan(snapshot=step.snapshot_id).to_arrow()
        assert step.rows == ((str(found.num_rows), str(pc.sum(found["amount"]).as_py())),)
        assert f"{step.rows[0][1]}" in repr(view)


def test_a_query_with_groups_is_shown_at_the_last_step(orders: Table) -> None:
    query = "SELECT status, count(*) AS n FROM rows GROUP BY status ORDER BY status"

    view = orders.show.travel(sql=query, steps=2)

    counts = pc.value_counts(orders.scan().to_arrow()["status"]).to_pylist()
    wanted = sorted((one["values"], str(one["counts"])) for one in counts)
    assert list(view.value.steps[-1].rows) == wanted


def test_what_polars_cannot_run_is_one_error(orders: Table) -> None:
    with pytest.raises(UnsupportedError, match="no_such_column"):
        orders.show.travel(sql="sum(no_such_column)", steps=2)


def test_the_kernel_goes_to_any_point(orders: Table) -> None:
    view = orders.show.travel(steps=2)
    assert view.answer is not None
    assert [step.snapshot_id for step in view.value.steps] == [1, 13]

    step = view.answer({"snapshot": 5})["step"]

    assert step["rowCount"] == orders.scan(snapshot=5).count()
    assert len(view.value.stops) == 13


def test_a_tag_outlives_its_snapshot(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"a": "INT"})
    for number in range(4):
        table.write(pa.table({"a": pa.array([number], pa.int32())}))
        if number == 1:
            table.tags.create("kept")
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1, older_than=later)

    view = table.show.travel()

    assert [(step.snapshot_id, step.row_count) for step in view.value.steps] == [(2, 2), (4, 4)]
    assert view.value.stops[0].tags == ("kept",)


def stop(number: int, *tags: str) -> TravelStop:
    return TravelStop(snapshot_id=number, commit_kind="APPEND", time_millis=None, tags=tags)


@pytest.mark.parametrize(
    ("tagged", "count", "expected"),
    [
        ((), 2, [0, 10]),
        ((), 3, [0, 5, 10]),
        ((4,), 3, [0, 4, 10]),
        ((1, 2, 3), 4, [0, 2, 3, 10]),
        ((), 20, list(range(11))),
    ],
)
def test_steps_are_spread_over_time_and_take_tags(
    tagged: tuple[int, ...], count: int, expected: list[int]
) -> None:
    points = [stop(number, *(["t"] if number in tagged else [])) for number in range(11)]

    assert [one.snapshot_id for one in spread(points, count)] == expected


def test_a_long_history_is_cut_but_for_tags() -> None:
    snapshots = [snapshot(number) for number in range(1, 10_001)]

    found = stops(snapshots, {"old": snapshots[4]}, with_times=True)

    assert len(found) == MOST_STOPS + 1
    assert [found[0].snapshot_id, found[-1].snapshot_id] == [5, 10_000]


def test_html_keeps_to_what_sanitisers_leave_and_alt_text_has_the_counts(
    demo: paimonlab.Catalog, tmp_path: Path
) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {EVIL: "STRING"})
    table.write(pa.table({EVIL: [EVIL * 1_000]}))
    drawn = table.show.travel()

    html = drawn.to_html()

    page = Page(html)
    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "snapshot 1 1" in html
    ET.fromstring(base64.b64decode(html.split("base64,")[1].split('"')[0]))
    assert len(str(drawn.data())) < 5_000


def test_times_are_hidden_where_outputs_are_compared(
    orders: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(determinism.VARIABLE, "1")

    view = orders.show.travel(steps=3)

    assert {one.time_millis for one in view.value.stops} == {None}
    assert "time (UTC)" not in repr(view)


def test_a_table_without_snapshots_says_so(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"a": "INT"})

    assert "db.t has no snapshot yet" in repr(table.show.travel())


def test_the_magic_takes_sql_and_checks_its_numbers(
    shell: InteractiveShell, demo: paimonlab.Catalog
) -> None:
    notebook.demo(demo.path)

    view = shell.run_line_magic("paimon_travel", "demo.orders --sql 'max(order_id) AS top' -n 2")

    assert [step.rows for step in view.value.steps] == [(("60",),), (("119",),)]
    with pytest.raises(UsageError, match="-n must be 2 to 50"):
        shell.run_line_magic("paimon_travel", "demo.orders -n 1")


def test_of_a_very_wide_table_the_key_and_the_first_columns_are_read(tmp_path: Path) -> None:
    names = [f"c{number:02}" for number in range(40)]
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {**dict.fromkeys(names, "DOUBLE"), "id": "INT NOT NULL"}
    table = catalog.create_table("db.wide", columns, primary_keys=["id"], options={"bucket": "1"})
    table.write([{"id": 1, **dict.fromkeys(names, 0.12345678901234)}])

    view = table.show.travel()

    (step,) = view.value.steps
    assert (step.columns, step.hidden_columns) == ((*names[:29], "id"), 11)
    assert step.floats == tuple(range(29))
    assert "1 of 1 rows; 11 more columns" in view.to_text()
    assert 'title="0.12345678901234, ' in view.to_html()
    assert len(view.to_html()) < 5_000
