"""One data file: beside system tables and scans, and drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import NotFoundError
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import VARIABLE
from paimonlab.notebook.views.file.drawing import draw
from paimonlab.table.table import Table
from tests.analysis.buckets.test_heatmap import answers, golden_table
from tests.golden.expected import cases, values
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.support import partition_by_name

GOLDEN = ("append_part", "dyn_part", "evo_avro", "evo_orc", "evo_parquet", "lsm", "part_date")


RECORDED_AT = {one.table: one.recorded_at for one in cases() if one.writer == "java-1.3.1"}


def of_file(table: Table, name: str, snapshot: int | None = None) -> views.DataFileView:
    value = commands.file(table, name, snapshot=snapshot).value
    assert isinstance(value, views.DataFileView)
    return value


def live_names(table: Table) -> list[str]:
    return [file.file_name for split in table.scan().plan().splits for file in split.files]


@pytest.mark.parametrize("name", GOLDEN)
def test_it_agrees_with_what_java_shows_of_the_file(name: str) -> None:
    wanted = answers(name).system_tables()["files"]
    rows = [dict(zip(wanted["fields"], row, strict=True)) for row in values(wanted["rows"])]
    table = golden_table(name)

    for row in rows:
        path = row["file_path"]
        view = of_file(table, path.rpartition("/")[2], RECORDED_AT[name])
        assert view.partition == partition_by_name(row["partition"], table)
        assert (view.bucket, view.schema_id) == (row["bucket"], row["schema_id"])
        assert view.rows == view.entry_rows == row["record_count"]
        assert view.bytes == view.entry_bytes == row["file_size_in_bytes"]
        assert (view.min_key, view.max_key) == (row["min_key"], row["max_key"])
        assert view.format == row["file_format"]
        assert view.level == (row["level"] if table.primary_keys else None)


@pytest.mark.parametrize("name", ["append_part", "evo_append"])
def test_rows_are_those_of_the_scan(name: str) -> None:
    table = golden_table(name)
    names = live_names(table)
    count = table.scan().count()

    views_ = [of_file(table, one) for one in names]

    assert sum(len(view.first_rows.cells) for view in views_) == count
    assert all(
        set(view.first_rows.columns) <= {*table.schema.field_names} or name == "evo_append"
        for view in views_
    )


def test_rows_come_page_by_page_from_the_kernel() -> None:
    table = golden_table("lsm")
    name = max(live_names(table), key=lambda one: of_file(table, one).rows)
    view = commands.file(table, name)
    assert isinstance(view, Drawn)
    assert view.answer is not None

    first = view.value.first_rows
    last = view.answer({"offset": 350})["rows"]

    assert first.columns == ("_KEY_a", "_SEQUENCE_NUMBER", "_VALUE_KIND", "a", "b")
    assert [row[0] for row in first.cells] == [str(at) for at in range(20)]
    assert [row[0] for row in last["cells"]] == [str(at) for at in range(350, 360)]
    assert view.answer({"offset": 999})["rows"]["cells"] == ()


def test_rows_that_cannot_be_read_are_explained() -> None:
    table = golden_table("types_pk_orc")
    (name, *_) = live_names(table)

    view = commands.file(table, name)

    assert isinstance(view.value, views.DataFileView)
    assert "f_ts9" in view.value.first_rows.problem
    assert "years 1677 to 2262 is not supported" in repr(view)


def test_a_part_of_the_name_is_enough_if_only_one_file_has_it() -> None:
    table = golden_table("lsm")
    name, *_ = live_names(table)

    assert of_file(table, name[5:41]).file == name or len(live_names(table)) > 1
    with pytest.raises(NotFoundError, match=r"'data-' is in the names of data-.*; give more of it"):
        commands.file(table, "data-")
    with pytest.raises(NotFoundError, match="has no live data file 'nosuch'"):
        commands.file(table, "nosuch")
    with pytest.raises(NotFoundError, match="Did you mean 'data-"):
        commands.file(table, name.replace("-", "_", 1))


def test_what_does_not_agree_is_said() -> None:
    table = golden_table("lsm")
    view = of_file(table, live_names(table)[0])
    columns = (msgspec.structs.replace(view.columns[0], wrong=1), *view.columns[1:])

    text = repr(
        draw(msgspec.structs.replace(view, rows=1, bytes=view.bytes and 7, columns=columns))
    )

    assert f"WRONG: it has 1 row, the manifest says {view.entry_rows}" in text
    assert "WRONG: it has 7 bytes, the manifest says " in text
    assert "WRONG: checksums of 1 page do not match their bytes" in text
    assert "WRONG" not in repr(draw(view))


def test_it_is_the_same_after_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    runs = []
    for run in ("a", "b"):
        catalog = paimonlab.connect(tmp_path / run)
        catalog.create_database("db")
        table = catalog.create_table("db.t", {"id": "BIGINT"})
        table.write(pa.table({"id": [1, 2]}))
        view = commands.file(table, "data-")
        assert isinstance(view, Drawn)
        runs.append(replace(view, id="view-1")._repr_mimebundle_())

    assert runs[0] == runs[1]
    assert "data#1" in runs[0]["text/plain"]
    assert " B" not in runs[0]["text/plain"]


def test_many_columns_and_parts_keep_it_small(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {f"column_{at}": "BIGINT" for at in range(300)})
    table.write(pa.table({f"column_{at}": list(range(100)) for at in range(300)}))

    view = commands.file(table, "data-")

    assert isinstance(view, Drawn)
    assert len(msgspec.json.encode(view.data())) < 500_000


def test_html_is_what_sanitisers_leave_alone_and_names_cannot_break_out() -> None:
    table = golden_table("lsm")
    view = of_file(table, live_names(table)[0])
    rows = msgspec.structs.replace(view.first_rows, columns=(EVIL,), cells=((EVIL,), (None,)))
    column: Any = msgspec.structs.replace(view.columns[0], name=EVIL + "x" * 10_000, low=EVIL)
    drawn = draw(
        msgspec.structs.replace(
            view, table=EVIL, file=EVIL, columns=(column,), first_rows=rows, written_by=EVIL
        )
    )

    page = Page(drawn.to_html())

    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "\u202e" not in drawn.to_html() + drawn.to_text()
