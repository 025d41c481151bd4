"""Data files by size and place: beside system tables, with fixed numbers, and drawn."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import VARIABLE
from paimonlab.notebook.views.files.drawing import alternative, draw
from paimonlab.notebook.views.files.squares import Box, squarified
from paimonlab.notebook.views.files.value import HEIGHT, MOST_FILES, WIDTH, places
from paimonlab.table.table import Table
from tests.analysis.buckets.test_heatmap import answers, golden_table
from tests.golden.expected import values
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.support import cases, partition_by_name

GOLDEN = ("append_part", "dyn_part", "lsm", "part_big", "part_date", "pk_part")


def value_of(table: Table) -> views.FileMap:
    value = commands.files(table).value
    assert isinstance(value, views.FileMap)
    return value


def tiles(value: views.FileMap, kind: str) -> list[views.Tile]:
    return [tile for tile in value.tiles if tile.kind == kind]


@pytest.mark.parametrize(("title", "given", "wanted"), cases("squares"))
def test_layout(title: str, given: str, wanted: str) -> None:
    weights, _, sides = (given.strip() or "in 1x1").rpartition("in ")
    width, height = map(float, sides.split("x"))

    boxes = squarified([float(word) for word in weights.split()], Box(0, 0, width, height))

    drawn = " ".join(",".join(f"{round(side, 2):g}" for side in box) for box in boxes)
    assert drawn == wanted, title


def test_layout_fills_the_rectangle_and_nothing_overlaps(rng: np.random.Generator) -> None:
    for _ in range(30):
        weights = sorted(rng.integers(1, 10_000, rng.integers(1, 60)).tolist(), reverse=True)
        boxes = squarified(weights, Box(0, 0, 100, 40))
        areas = [box.width * box.height for box in boxes]
        assert areas == pytest.approx([4000 * one / sum(weights) for one in weights])
        for at, one in enumerate(boxes):
            for other in boxes[:at]:
                across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
                down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
                assert min(across, down) < 1e-6


@pytest.mark.parametrize("name", GOLDEN)
def test_areas_are_the_files_that_java_shows(name: str) -> None:
    wanted = answers(name).system_tables()["files"]
    places_ = [wanted["fields"].index(one) for one in ("record_count", "file_size_in_bytes")]
    rows = [[row[at] for at in places_] for row in values(wanted["rows"])]

    value = value_of(golden_table(name))

    assert sorted([one.rows, one.bytes] for one in tiles(value, "file")) == sorted(rows)
    assert (value.row_count, value.bytes) == tuple(
        sum(column) for column in zip(*rows, strict=True)
    )
    assert value.file_count == sum(one.files for one in value.bins) == len(rows)


@pytest.mark.parametrize("name", GOLDEN)
def test_areas_of_partitions_and_buckets_are_those_that_java_shows(name: str) -> None:
    wanted = answers(name).system_tables()["buckets"]

    table = golden_table(name)
    value = value_of(table)

    found = [
        [value.tiles[one.parent].name, int(one.name or -9), one.rows, one.bytes, one.files]
        for one in tiles(value, "bucket")
    ]
    theirs = [[partition_by_name(row[0], table), *row[1:5]] for row in values(wanted["rows"])]
    assert sorted(found) == sorted(theirs)
    assert value.bucket_count == len(found)
    assert value.partition_count == len(answers(name).system_tables()["partitions"]["rows"])


def test_many_files_share_areas_and_the_view_says_so() -> None:
    count = 30_000
    table = pa.table(
        {
            "bucket": pa.array(np.arange(count) % 4, pa.int32()),
            "file_name": pa.array([f"f{at}" for at in range(count)], pa.large_string()),
            "level": pa.array(np.zeros(count, np.int32)),
            "file_size_bytes": pa.array(np.arange(1, count + 1)),
            "row_count": pa.array(np.ones(count, np.int64)),
        }
    )
    partitions = [f"{{p{at % 150}}}" for at in range(count)]

    value = views.file_map("db.t", 1, table, partitions, has_levels=True)

    assert (value.file_count, value.partition_count, value.bucket_count) == (count, 150, 300)
    assert value.tile_count <= MOST_FILES
    for kind in ("partition", "bucket"):
        around = [tile for tile in value.tiles if tile.kind == kind]
        for at, tile in enumerate(value.tiles):
            inner = [one for one in value.tiles if one.parent == at]
            if tile in around and inner:
                assert sum(one.files for one in inner) == tile.files
                assert sum(one.bytes or 0 for one in inner) == tile.bytes
    assert sum(tile.files for tile in tiles(value, "partition")) == count
    drawn = draw(value)
    assert f"for {value.tile_count:,} of 30,000 files" in repr(drawn)
    assert "50 more partitions" in repr(drawn)
    assert len(msgspec.json.encode(drawn.data())) < 500_000


def test_areas_lie_inside_those_around_them() -> None:
    value = value_of(golden_table("part_big"))

    for tile in value.tiles:
        outer = value.tiles[tile.parent] if tile.parent >= 0 else None
        x, y, width, height = (
            (outer.x, outer.y, outer.width, outer.height) if outer else (0, 0, WIDTH, HEIGHT)
        )
        assert x - 0.2 <= tile.x <= tile.x + tile.width <= x + width + 0.2
        assert y - 0.2 <= tile.y <= tile.y + tile.height <= y + height + 0.2


def test_places_go_to_the_first_buckets() -> None:
    assert places([5000, 5000], 100) == [50, 50]
    assert places([30] * 10, 100) == [20, 20, 20, 20, 20, 0, 0, 0, 0, 0]
    assert places([], 100) == []


def test_an_empty_table_says_so(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")

    view = commands.files(catalog.create_table("db.t", {"id": "BIGINT"}))

    assert "db.t has no data files" in repr(view)
    assert view.to_arrow().num_rows == 0


def test_it_is_the_same_after_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    runs = []
    for run in ("a", "b"):
        catalog = paimonlab.connect(tmp_path / run)
        catalog.create_database("db")
        table = catalog.create_table("db.t", {"id": "BIGINT", "p": "INT"}, partition_keys=["p"])
        for number in (1, 2):
            rows = {"id": [1] * number, "p": pa.array([number] * number, pa.int32())}
            table.write(pa.table(rows))
        view = commands.files(table)
        assert isinstance(view, Drawn)
        runs.append(replace(view, id="view-1")._repr_mimebundle_())

    assert runs[0] == runs[1]
    assert " B" not in runs[0]["text/plain"]


def test_the_picture_carries_its_numbers_in_words() -> None:
    view = commands.files(golden_table("dyn_part"))
    page = Page(view.to_html())
    match = re.search(r'base64,([^"]+)"', view.to_html())

    assert match is not None
    ET.fromstring(base64.b64decode(match[1]))
    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert alternative(value_of(golden_table("dyn_part"))) == (
        "Map of the files of db.dyn_part by bytes: dt=d0 2 files, 7 rows, 2.9 kB; "
        "dt=d1 2 files, 7 rows, 2.9 kB"
    )


def test_names_cannot_break_out() -> None:
    value = value_of(golden_table("dyn_part"))
    evil: list[Any] = [
        msgspec.structs.replace(tile, name=EVIL + "x" * 10_000) for tile in value.tiles
    ]
    drawn = draw(msgspec.structs.replace(value, table=EVIL, tiles=tuple(evil)))

    assert "script" not in Page(drawn.to_html()).tags
    assert "\u202e" not in drawn.to_text()
