from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.analysis.health import fsck_summary
from paimonlab.notebook import commands
from paimonlab.notebook.accessor import register


def test_findings_are_shown_as_rows(tmp_path: Path) -> None:
    register()
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    table.write(pa.table({"id": pa.array([1], pa.int32())}))

    clean = commands.fsck(table, deep=True)
    file = next(Path(table.path, "bucket-0").iterdir())
    file.unlink()
    found = table.show.fsck()

    assert clean.to_arrow().num_rows == 0
    assert "✔ Nothing found" in clean.to_html()
    assert found.to_arrow()["file"].to_pylist() == [f"bucket-0/{file.name}"]
    assert "the file is missing" in found.to_markdown()


def test_of_very_many_findings_the_first_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fsck_summary, "MOST_FINDINGS", 2)
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    for number in range(4):
        table.write(pa.table({"id": pa.array([number], pa.int32())}))
    for file in Path(table.path, "bucket-0").iterdir():
        file.unlink()

    found = commands.fsck(table)

    assert found.to_html().count("the file is missing") == 2
    assert "4 findings" in found.to_html()
    assert "the first 2 are listed, to_arrow() has all" in found.to_html()
    assert found.to_arrow().num_rows == 4
