from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from paimonlab.analysis.levels import lsm
from paimonlab.analysis.levels.lsm import MOST_FILES, repeatable
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel import determinism
from paimonlab.notebook.views.lsm.drawing import draw
from paimonlab.table.table import Table
from tests.analysis.levels.test_levels import catalog, golden, source, uneven
from tests.golden.expected import Case
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page


def drawn(table: str | Table, **options: Any) -> Drawn[views.Lsm]:
    view = commands.lsm(table, **options)
    assert isinstance(view, Drawn)
    return view


@pytest.fixture
def many(tmp_path: Path) -> Table:
    return uneven(tmp_path)


def test_the_worst_buckets_are_shown_and_the_rest_is_counted(many: Table) -> None:
    view = drawn(many, buckets=2)

    assert [bucket.partition for bucket in view.value.buckets] == ["p=3", "p=2"]
    assert "the 2 of 4 buckets with most level 0" in repr(view)


def test_too_many_files_are_bars_of_neighbours(many: Table) -> None:
    files = source(many).files.slice(0, 1)
    count = 20_000
    repeated = pa.concat_tables([files] * count).combine_chunks()
    names = pa.array([f"f{number}" for number in range(count)], pa.large_string())
    place = repeated.schema.get_field_index("file_name")
    repeated = repeated.set_column(place, repeated.schema.field(place), names)

    value = lsm.lsm(source(many, files=repeated, commits=()), most_buckets=6)

    (bucket,) = value.buckets
    assert sum(file.count for file in bucket.files) == bucket.file_count == count
    assert len(bucket.files) <= MOST_FILES
    assert "neighbours share a bar" in repr(draw(value))
    assert len(json.dumps(draw(value).data())) < 500_000


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table("db.t", {"k": "INT"})

    view = drawn(table)

    said = "db.t has no data files\nRows are added by INSERT INTO db.t VALUES …"
    assert repr(view).strip() == said
    assert view.value.snapshot_id is None


@pytest.mark.parametrize("name", ["buckets", "snapshots"])
def test_nothing_is_no_number_to_ask_for(many: Table, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1"):
        commands.lsm(many, **{name: 0})  # type: ignore[arg-type]


def test_an_append_table_has_no_levels_and_says_so() -> None:
    view = drawn(golden(Case("java-1.3.1", "append_bucketed")))

    assert not view.value.has_levels
    assert "an append table has no levels" in view.to_text()
    places = [[file.low for file in bucket.files] for bucket in view.value.buckets]
    assert places == [[0, 1]] * 3


def test_repeatable_hides_times_and_bytes_and_numbers_files(
    many: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(determinism.VARIABLE, "1")

    text = msgspec.json.encode(drawn(many).value).decode()

    assert "data#1" in text
    assert "parquet" not in text
    assert '"bytes":null' in text
    assert '"createdMillis":1' not in text
    assert '"timeMillis":1' not in text
    assert repeatable(drawn(many).value) == drawn(many).value


def test_html_is_what_sanitisers_leave_alone_and_says_the_numbers(many: Table) -> None:
    view = drawn(many)

    page = Page(view.to_html())

    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "db.t p=3 bucket 0: 4 sorted runs, trigger 5, stop 8: level 0: 4 files" in view.to_html()
    svg = base64.b64decode(view.picture.partition("base64,")[2].partition('"')[0]).decode()
    assert svg.count("<rect") == 1 + 4


def test_hostile_names_are_text(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table(
        "db.t",
        {"p": "STRING NOT NULL", "k": "STRING NOT NULL"},
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"bucket": "1"},
    )
    for key in (EVIL, "=1+1" + "x" * 10_000):
        table.write(pa.table({"p": ["a\u202e<b>"], "k": [key]}))

    view = drawn(table)

    page = Page(view.to_html())
    assert "script" not in page.tags
    assert "\u202e" not in view.to_html() + view.to_text()
    assert max(len(file.max_key) for file in view.value.buckets[0].files) <= 61
    saved = view.save(tmp_path / "view.html").read_text()
    assert saved.count("</script>") == 2
