"""What changed, as Java recorded it; and how it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from msgspec import structs
from pyarrow import csv

import paimonlab
from paimonlab import notebook
from paimonlab.analysis.rows import row_changes
from paimonlab.errors import UnsupportedError
from paimonlab.notebook.views.changes import command
from paimonlab.notebook.views.changes.command import PAGE
from paimonlab.read.changed_rows import read_change_split
from paimonlab.scan.change_splits import ChangeSplit
from paimonlab.table.table import Table
from tests.analysis.rows.test_row_changes import side
from tests.golden.expected import Case, Rows
from tests.golden.test_changes import WITH_CHANGES, changes, reads, with_kinds
from tests.golden.test_rows import open_table, shown
from tests.java_values import java_rows, unordered
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> paimonlab.Catalog:
    return notebook.demo(tmp_path_factory.mktemp("demo")).catalog


@pytest.fixture
def orders(demo: paimonlab.Catalog) -> Table:
    table = demo.table("demo.orders")
    assert isinstance(table, Table)
    return table


def unpaired(rows: pa.Table, table: Table) -> Rows:
    """Take updates apart again."""
    found = []
    kinds = rows["kind"].to_pylist()
    for name, ending in (("before", "-U"), ("after", "+U")):
        kept = [kind for kind, one in zip(kinds, rows[name].to_pylist(), strict=True) if one]
        values = shown(java_rows(side(rows, name), table.schema.fields))
        for kind, row in zip(kept, values, strict=True):
            found.append([ending if kind == "-U/+U" else kind, *row])
    return found


@pytest.mark.parametrize("case", WITH_CHANGES, ids=str)
def test_reported_changes_are_those_that_java_reads(case: Case) -> None:
    _, table = open_table(case)

    for read in reads(case):
        if "incremental-between" not in read["options"]:
            continue
        of_table = changes(table, read["options"])
        if of_table.range.kind.value == "diff":
            continue
        start, end = read["options"]["incremental-between"].split(",")
        view = table.show.changes(start, end, mode=of_table.range.kind.value)

        assert unordered(unpaired(view.to_arrow(), table)) == unordered(with_kinds(of_table))


def test_a_changed_key_is_one_row_with_the_changed_cells_only(orders: Table) -> None:
    view = orders.show.changes(4, 7)

    paid = next(row for row in view.value.rows if row.mark == "~")
    assert paid.kind == "-U/+U"
    names = [view.value.columns[place] for place, _ in paid.old]
    assert set(names) <= {"amount", "status"}
    assert "new → shipped" in repr(view)
    assert [view.value.columns[place] for place in view.value.key] == ["dt", "order_id"]


def test_counts_agree_with_the_rows(orders: Table) -> None:
    view = orders.show.changes(4, 7)
    value, marks = view.value, Counter(view.to_arrow()["mark"].to_pylist())

    assert (value.total.inserts, value.total.updates, value.total.deletes) == (
        marks["+"],
        marks["~"],
        marks["-"],
    )
    for places in (value.partitions, value.buckets):
        assert sum(one.updates for one in places) == marks["~"]
    kinds = Counter(orders.changes(4, 7, mode="changelog").to_arrow()["rowkind"].to_pylist())
    assert kinds["-U"] == kinds["+U"] == marks["~"]


def test_places_with_most_changes_of_any_kind_come_first(orders: Table) -> None:
    value = orders.show.changes(4, 7).value

    for places in (value.partitions, value.buckets):
        counts = [place.inserts + place.updates + place.deletes for place in places]
        assert counts == sorted(counts, reverse=True), places


@pytest.mark.parametrize(
    "name", ["append_part", "part_dec", "part_double", "part_nolegacy", "part_ts", "pk_part"]
)
def test_partitions_are_written_as_other_views_write_them(name: str) -> None:
    _, table = open_table(Case("java-1.3.1", name))
    assert table.snapshot is not None

    view = table.show.changes(0, table.snapshot.id)

    tree = table.show.manifests(entries=5000).value
    manifests = [manifest for one in tree.lists for manifest in one.manifests]
    known = {entry.partition for one in manifests for entry in one.entries}
    assert {row.partition for row in view.value.rows} == known
    assert all(text.startswith(f"{table.partition_keys[0]}=") for text in known)


def test_without_changelog_both_states_are_compared(tmp_path: Path) -> None:
    table = keyed(tmp_path, {"write-only": "true"})
    write(table, [1, 2, 3], ["a", "b", "c"])
    write(table, [2], ["B"])
    table.delete("k = 3")
    write(table, [3], ["c"])

    view = table.show.changes(1, 4)

    assert view.value.source == "diff"
    assert "intermediate changes are lost" in repr(view)
    assert [(row.mark, row.cells, row.old) for row in view.value.rows] == [
        ("~", ("2", "B"), ((1, "b"),))
    ]


def test_a_renamed_column_is_no_change(tmp_path: Path) -> None:
    table = keyed(tmp_path, {"write-only": "true"})
    write(table, [1, 2], ["a", "b"])
    catalog = paimonlab.connect(tmp_path)
    table = catalog.alter_table("db.t", paimonlab.RenameColumn("v", "w"))
    table.write(pa.table({"k": pa.array([2], pa.int32()), "w": ["c"]}))

    rows = table.show.changes(1, 2, mode="diff").value.rows

    assert [(row.mark, row.cells, row.old) for row in rows] == [("~", ("2", "c"), ((1, "b"),))]

    table.compact(full=True)
    advice = "%paimon_diff db.t 2 3, other changes by an earlier start"
    assert advice in repr(table.show.changes(2, 3, mode="diff"))


def test_null_and_the_text_null_are_told_apart(tmp_path: Path) -> None:
    table = keyed(tmp_path, {"write-only": "true"})
    write(table, [1, 2], [None, "NULL"])
    write(table, [1, 2], ["NULL", None])

    text = repr(table.show.changes(1, 2))

    assert "NULL → 'NULL'" in text
    assert "'NULL' → NULL" in text


def test_only_columns_of_the_key_filter_a_difference(orders: Table) -> None:
    view = orders.show.changes(2, 7, mode="diff", where="order_id < 14")

    assert pc.max(side(view.to_arrow(), "before")["order_id"]).as_py() < 14
    with pytest.raises(UnsupportedError, match="only columns of the key: dt, order_id"):
        orders.show.changes(2, 7, mode="diff", where="status = 'new'")


def test_two_states_of_an_append_table_are_not_compared(demo: paimonlab.Catalog) -> None:
    events = demo.table("demo.events")
    assert isinstance(events, Table)

    with pytest.raises(UnsupportedError, match="no primary key"):
        events.show.changes(1, 2, mode="diff")
    assert events.show.changes(1, 2).value.source == "delta"
    assert events.show.changes(0, 2).value.row_count == 200


def test_the_kernel_has_the_other_pages(demo: paimonlab.Catalog) -> None:
    events = demo.table("demo.events")
    assert isinstance(events, Table)
    view = events.show.changes(0, 4)
    assert len(view.value.rows) == PAGE
    assert "the first 30 of 400 changes; delta, from 4 data files" in repr(view)
    assert len(view.grid.rows) == 30  # where nothing scrolls
    assert view.answer is not None

    last = view.answer({"offset": 300})
    found = view.answer({"offset": 0, "key": "2026-01-02 10:53"})

    assert [row["cells"][0] for row in last["rows"]] == [str(n) for n in range(300, 400)]
    assert last["count"] == 400
    assert [row["cells"][0] for row in found["rows"]] == ["299"]


def test_of_many_appended_files_those_of_a_page_are_read(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"p": "STRING", "id": "INT"}
    table = catalog.create_table("db.t", columns, partition_keys=["p"], options={"bucket": "-1"})
    for number in range(6):
        rows = range(number * 40, number * 40 + 40)
        table.write(pa.table({"p": [str(one % 3) for one in rows], "id": pa.array(rows, "int32")}))
    whole = table.show.changes(1, 6)
    opened: list[str] = []

    def counted(split: ChangeSplit, *rest: Any) -> Iterator[pa.RecordBatch]:
        opened.extend(file.file_name for side in split.sides for file in side.files)
        return read_change_split(split, *rest)

    monkeypatch.setattr(row_changes, "read_change_split", counted)
    monkeypatch.setattr(command, "FILES_READ_AT_ONCE", 14)

    view = table.show.changes(1, 6)

    later = "; counted by metadata, and read when they are asked for"
    assert view.value == structs.replace(whole.value, note=whole.value.note + later)
    assert len(opened) == len({*opened}) == 8, "files of 13 or 14 rows each, for 100 rows"
    for request in ({"offset": 100}, {"offset": 195}, {"offset": 900}, {"offset": 0, "key": "7"}):
        assert view.answer is not None
        assert whole.answer is not None
        assert view.answer(request) == whole.answer(request)
    opened.clear()
    monkeypatch.setattr(command, "ROWS_SEARCHED_AT_ONCE", 20)
    some = view.answer({"offset": 0, "key": "1"})
    assert (some["rows"], some["isMore"]) == (whole.answer({"offset": 0, "key": "1"})["rows"], True)
    assert 100 < some["count"] < whole.answer({"offset": 0, "key": "1"})["count"]
    assert len(opened) == len({*opened}) < 18 - 3, "files that follow those of a page stay unread"
    rest = view.answer({"offset": 100, "key": "1"})
    assert rest == whole.answer({"offset": 100, "key": "1"})
    assert len(opened) == len({*opened}) == 15, "no file is read twice"
    assert view.to_arrow() == whole.to_arrow()


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_all_changes_go_to_a_file(orders: Table, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"changes{suffix}"

    view = orders.show.changes(0, 7, path=path)

    written = csv.read_csv(path) if suffix == ".csv" else pl.read_parquet(path).to_arrow()
    assert written.num_rows == view.value.row_count
    assert written.column_names[3] == "before.dt"
    with pytest.raises(UnsupportedError, match=r"There are \.csv, \.parquet"):
        orders.show.changes(0, 7, path=tmp_path / "changes.doc")


def test_html_keeps_to_what_sanitisers_leave_and_escapes_values(tmp_path: Path) -> None:
    table = keyed(tmp_path, {"write-only": "true"}, column=EVIL)
    write(table, [1], [EVIL], column=EVIL)
    write(table, [1], [EVIL * 1_000], column=EVIL)

    drawn = table.show.changes(1, 2)

    page = Page(drawn.to_html())
    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert len(str(drawn.data())) < 5_000


def test_the_magic_takes_ids_tags_and_zero(
    shell: InteractiveShell, demo: paimonlab.Catalog
) -> None:
    notebook.demo(demo.path)

    by_id = shell.run_line_magic("paimon_changes", "demo.orders 2 7")
    by_tag = shell.run_line_magic("paimon_changes", "demo.orders first-day second-day")
    first = shell.run_line_magic("paimon_changes", "demo.orders 0 1 --mode diff")
    newest = shell.run_line_magic("paimon_changes", "demo.orders")
    since = shell.run_line_magic("paimon_diff", "demo.orders first-day")
    with pytest.raises(UsageError, match=r"%paimon_row demo\.orders id=1"):
        shell.run_line_magic("paimon_row", "demo.orders")

    assert (newest.value.start, newest.value.end) == ("12", "13")
    assert (since.value.before.snapshot_id, since.value.after.snapshot_id) == (2, 13)
    assert by_id.to_arrow().equals(by_tag.to_arrow())
    assert {row.mark for row in first.value.rows} == {"+"}
    assert first.value.row_count == 60


def keyed(path: Path, options: dict[str, str], column: str = "v") -> Table:
    catalog = paimonlab.connect(path)
    catalog.create_database("db", exist_ok=True)
    return catalog.create_table(
        "db.t",
        {"k": "INT NOT NULL", column: "STRING"},
        primary_keys=["k"],
        options={"bucket": "1", **options},
    )


def write(table: Table, keys: list[int], values: list[str | None], column: str = "v") -> None:
    table.write(pa.table({"k": pa.array(keys, pa.int32()), column: pa.array(values, pa.string())}))


def test_of_a_wide_table_the_key_and_what_changed_are_shown(tmp_path: Path) -> None:
    names = [f"measured_value_of_the_sensor_{number:02}" for number in range(20)]
    catalog = paimonlab.connect(str(tmp_path))
    catalog.create_database("db")
    columns = {"x": "DOUBLE", **dict.fromkeys(names, "INT"), "id": "INT NOT NULL"}
    table = catalog.create_table("db.wide", columns, primary_keys=["id"], options={"bucket": "1"})
    table.write([{"id": 1, "x": 0.12345678901234, **dict.fromkeys(names, 0)}])
    table.write([{"id": 1, "x": -1234567.125, **dict.fromkeys(names, 0), names[13]: 5}])

    view = table.show.changes(1, 2)
    heads = [column.name for column in view.grid.columns]

    assert heads[1:5] == ["id (key)", "x", names[13], names[0]]
    assert len(heads) == 9  # without a kind, which says what the sign says
    assert "0 → 5" in view.to_text()
    assert 'title="0.12345678901234 → -1234567.125">0.123457 →\xa0-1,234,567<' in view.to_html()
    assert "14 columns more, to_arrow() has all" in view.to_html()
    assert "measured_<wbr>value_<wbr>of_" in view.to_html()
