"""What happened is said before the details, in every form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

import paimonlab
from paimonlab.notebook import views
from paimonlab.notebook.display import html, plain
from paimonlab.notebook.display.grid import Column, Grid, texts
from paimonlab.notebook.display.headlines import commit_text
from paimonlab.notebook.views.timeline.drawing import draw

GRID = Grid((Column("id"),), [texts([1])], "db.t", headline="+1 row | by <me>")


def test_the_headline_is_between_caption_and_heads() -> None:
    assert plain.text(GRID).splitlines()[:3] == ["db.t", "+1 row | by <me>", "id"]
    assert plain.markdown(GRID).splitlines()[2:4] == ["\\+1 row \\| by \\<me\\>", ""]
    written = html.table(GRID)
    assert written.index("<b>db.t</b><br>+1 row | by &lt;me&gt;</p>") < written.index("<table")
    wide = replace(GRID, columns=(Column("a column as wide as what is said above"),))
    assert "<b>db.t</b><br>+1 row | by &lt;me&gt;</caption>" in html.table(wide)


def test_the_headline_of_a_picture_is_above_it(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    table.write(pa.table({"id": pa.array([1, 2], pa.int32())}))

    drawn = table.show.timeline()

    said = "1 snapshot, newest, "
    found = drawn.to_html()
    assert found.index(said) < found.index("<img ") < found.index("<table")
    assert found.count(said) == 1
    assert "+2 rows, 1 file, by " in repr(drawn).splitlines()[1]
    assert ", newest: +2 rows" in repr(draw(views.repeatable(drawn.value)))


def test_commits_are_said_as_people_say_them() -> None:
    some: Any = {"files": 2, "user": "0a1b2c3d-0000-4000-8000-000000000000"}

    assert commit_text("APPEND", written=1, deleted=0, **some) == "+1 row, 2 files, by 0a1b2c3d"
    assert commit_text("OVERWRITE", written=19, deleted=45, **some) == (
        "overwrite, +19 -45 rows, 2 files, by 0a1b2c3d"
    )
    assert commit_text("ANALYZE", written=0, deleted=0, files=0, user="a\nb") == (
        "analyze, by a\\nb"
    )


def test_numbers_of_a_profile_stand_at_the_right_where_all_are_numbers(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    tables = [
        catalog.write_table("db.numbers", {"a": [1, 20], "b": [2.5, None]}),
        catalog.write_table("db.mixed", {"a": [1, 20], "b": ["x", "y"]}),
    ]

    numbers, mixed = (
        [column.align.value for column in table.show.profile().grid.columns] for table in tables
    )

    assert numbers[4:6] == ["right", "right"]
    assert mixed[4:6] == ["left", "left"]
