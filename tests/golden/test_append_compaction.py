"""Append tables that Java wrote, compacted, put in order and indexed by us: every row stays."""

from __future__ import annotations

import shutil
from pathlib import Path

import paimonlab as pl
from paimonlab.errors import SchemaError, UnsupportedError
from tests.golden.expected import Case, cases, expected
from tests.java_values import java_rows, unordered

APPENDED = [
    case
    for case in cases()
    if case.writer.startswith("java")
    and case.refusal is None
    and case.unreadable is None
    and case.recorded_at is None
]
RELEASES_OF = {
    name: [case for case in APPENDED if case.table == name]
    for name in sorted({case.table for case in APPENDED})
}
"""The same table, of each release that wrote it."""
LEAST = 30
"""Tables that there are at least."""


def test_no_row_is_lost(tmp_path: Path) -> None:
    """Each table is that of one release, in turn."""
    chosen = [cases[number % len(cases)] for number, cases in enumerate(RELEASES_OF.values())]

    tried = [case for case in chosen if is_kept(case, tmp_path)]

    assert len(tried) >= LEAST
    assert len({case.writer for case in tried}) > 1


def is_kept(case: Case, folder: Path) -> bool:
    """Check one table; False if it has a key, or cannot be written to."""
    answers = expected(case)
    name = answers.document["table"]
    there = pl.connect(answers.warehouse).table(name)
    if there.primary_keys:
        return False
    database, _, last = name.partition(".")
    path = folder / str(case).replace("/", "_")
    shutil.copytree(answers.path, path / f"{database}.db" / last)
    table = pl.connect(path).table(name)
    try:
        before = rows_of(table)
        table.compact(full=True)
        assert rows_of(table) == before, case
        table.maintenance.rewrite_file_index()
        assert rows_of(table) == before, case
        if table.options.get("bucket", "-1") == "-1":
            names = [one for one in table.schema.field_names if one not in table.partition_keys]
            table.compact(order_by=names[:2])
            assert rows_of(table) == before, case
    except (UnsupportedError, SchemaError):
        return False
    assert table.fsck(deep=True).findings == (), case
    shutil.rmtree(path)
    return True


def rows_of(table: pl.Table) -> list[str]:
    tracked = table.options.get("row-tracking.enabled") == "true"
    ids = ["_ROW_ID", "_SEQUENCE_NUMBER"] if tracked else []
    if table.options.get("data-evolution.enabled") == "true":
        ids.remove("_SEQUENCE_NUMBER")  # rows get the largest one of the files put together
    scan = table.scan([*table.schema.field_names, *ids])
    fields = [scan.schema.field(column) for column in scan.columns]
    return unordered(java_rows(scan.to_arrow(), fields))
