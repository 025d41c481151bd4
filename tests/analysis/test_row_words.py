"""What is said of the rows of files: those of a reader, or more."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.analysis.row_words import rows_are
from paimonlab.spec.options.table_options import Options


@pytest.mark.parametrize(
    ("keys", "options", "said"),
    [
        (("id",), {}, "rows before merging"),
        (("id",), {"deletion-vectors.enabled": "true"}, "rows before merging"),
        ((), {}, "rows"),
        ((), {"deletion-vectors.enabled": "true"}, "rows before deletes"),
        ((), {"data-evolution.enabled": "true"}, "rows before merging"),
    ],
)
def test_only_where_files_have_other_rows_than_readers_it_is_said(
    keys: tuple[str, ...], options: dict[str, str], said: str
) -> None:
    assert rows_are(keys, Options(options)) == said


def test_views_of_append_tables_do_not_speak_of_merging(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT"})
    table.write(pa.table({"id": [1, 2]}))
    table.write(pa.table({"id": [3]}))

    show = table.show
    for view in (show.timeline(), show.files(), show.heatmap(by="rows"), show.health()):
        assert "merging" not in view.to_markdown() + view._repr_mimebundle_()["text/html"]
    assert "merging" not in show.diff(1, 2).to_markdown()
