"""Buckets by what they contain: beside system tables, with fixed numbers, and drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.analysis.buckets import heatmap
from paimonlab.analysis.buckets.heatmap import bucket_sums
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import VARIABLE
from paimonlab.notebook.views.heatmap.drawing import draw
from paimonlab.spec.manifests.manifest import FileKind
from tests.analysis.buckets.test_heatmap import GOLDEN, answers, golden_table, sums
from tests.golden.expected import values
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.small_tables import drawn_entries
from tests.support import partition_by_name


@pytest.mark.parametrize("name", GOLDEN)
def test_cells_are_the_buckets_that_java_shows(name: str) -> None:
    table = golden_table(name)
    wanted = answers(name).system_tables()["buckets"]
    assert wanted["fields"][:5] == [
        *("partition", "bucket", "record_count", "file_size_in_bytes", "file_count")
    ]

    cells = commands.heatmap(table).to_arrow().to_pylist()

    found = [
        [
            one["partition"],
            one["first_bucket"],
            one["rows"],
            one["bytes"],
            one["files"],
        ]
        for one in cells
    ]
    theirs = [[partition_by_name(row[0], table), *row[1:5]] for row in values(wanted["rows"])]
    assert sorted(found) == sorted(theirs)


def test_what_waits_for_a_bucket_is_there() -> None:
    entries = drawn_entries("+a +b +c")
    assert set(entries["kind"].to_pylist()) == {int(FileKind.ADD)}
    buckets = pa.array([-2, 0, 0], pa.int32())
    entries = entries.set_column(entries.schema.get_field_index("bucket"), "bucket", buckets)

    found = bucket_sums(entries)
    value = heatmap.heatmap("t", 1, found, [""] * found.num_rows, has_levels=True)

    assert [(one.first, one.last) for one in value.columns] == [(-2, -2), (0, 0)]
    assert value.rows[0].files == (1, 2)
    assert "waiting" in repr(draw(value))


def test_many_buckets_share_columns() -> None:
    drawing = "\n".join(f"a/{bucket}: 1 1 1 1 1" for bucket in (-2, *range(200)))
    table, partitions = sums(drawing)

    value = heatmap.heatmap("t", 1, table, partitions, has_levels=True)

    assert len(value.columns) == 51
    assert [(one.first, one.last) for one in value.columns[:3]] == [(-2, -2), (0, 3), (4, 7)]
    assert value.rows[0].files == (1, *[4] * 50)
    assert value.bucket_count == 201
    assert "51 columns of buckets only in the interactive form" in repr(draw(value))


def test_wrong_arguments_are_refused() -> None:
    table = golden_table("append_part")

    with pytest.raises(
        ValueError, match=r"the measure must be one of bytes, files, .* got 'level_0'"
    ):
        commands.heatmap(table, by="level_0")
    with pytest.raises(ValueError, match="top must be at least 1, got 0"):
        commands.heatmap(table, top=0)


def test_an_empty_table_says_so(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")

    view = commands.heatmap(catalog.create_table("db.t", {"id": "BIGINT"}))

    assert "db.t has no data files" in repr(view)
    assert view.to_arrow().num_rows == 0


def test_the_rest_is_said_and_the_kernel_sorts_by_another_measure() -> None:
    table = golden_table("dyn_part")
    view = commands.heatmap(table, top=1)
    assert isinstance(view, Drawn)
    assert view.answer is not None

    assert "4 buckets in 2 partitions; the 1 with most bytes, and the rest; --top N" in repr(view)
    assert "… 1 more" in repr(view)
    assert view.answer({"by": "rows"})["view"]["measure"] == "rows"


def test_it_is_the_same_after_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    runs = []
    for run in ("a", "b"):
        catalog = paimonlab.connect(tmp_path / run)
        catalog.create_database("db")
        table = catalog.create_table("db.t", {"id": "BIGINT", "p": "INT"}, partition_keys=["p"])
        table.write(pa.table({"id": [1, 2, 3], "p": pa.array([1, 1, 2], pa.int32())}))
        view = commands.heatmap(table)
        assert isinstance(view, Drawn)
        runs.append(replace(view, id="view-1")._repr_mimebundle_())

    assert runs[0] == runs[1]
    assert "rows of snapshot 1" in runs[0]["text/plain"]
    assert " B" not in runs[0]["text/plain"]


def test_html_prints_the_numbers_on_shades_that_sanitisers_leave_alone() -> None:
    view = commands.heatmap(golden_table("dyn_part"))
    page = Page(view.to_html())

    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "background-color:rgba(0, 114, 178, 0.60)" in view.to_html()
    assert "1.5 kB" in view.to_html()


def test_names_cannot_break_out() -> None:
    value = commands.heatmap(golden_table("dyn_part")).value
    assert isinstance(value, views.Heatmap)
    row: Any = msgspec.structs.replace(value.rows[0], partition=EVIL + "x" * 10_000)
    drawn = draw(msgspec.structs.replace(value, table=EVIL, rows=(row,)))

    assert "script" not in Page(drawn.to_html()).tags
    assert "\u202e" not in drawn.to_text()


def test_shades_begin_at_zero() -> None:
    """Numbers that are close to each other have shades that are."""
    found = bucket_sums(drawn_entries("+a +b"))
    value = heatmap.heatmap("t", 1, found, [""] * found.num_rows, has_levels=True)
    (row,) = value.rows
    both = {name: 2 * getattr(row, name) for name in ("files", "rows", "level_0", "updated_millis")}
    near = msgspec.structs.replace(
        value,
        rows=(msgspec.structs.replace(row, **both, bytes=(4_800, 5_000)),),
        columns=2 * value.columns,
        measure="bytes",
    )

    assert len(draw(value).grid.rows[0]) == 2, "of one bucket there is no sum"
    *cells, total = draw(near).grid.rows[0][1:]

    assert [cell.background for cell in cells] == ["rgba(0, 114, 178, 0.60)"] * 2
    assert (total.text, total.background) == ("9.8 kB", ""), "a sum is not on the scale"
