"""Reads that leave lost and damaged files out, against the rows that each file was given."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import paimonlab
from paimonlab import SetOption
from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.tables import Sources
from paimonlab.table.table import Table

LOST, CORRUPT = "scan.ignore-lost-files", "scan.ignore-corrupt-files"


def three_files(folder: Path, file_format: str, primary_keys: list[str]) -> Table:
    """Make a table whose third file replaces or repeats a key of the first."""
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    options = {"file.format": file_format, "bucket": "1", "bucket-key": "id", "write-only": "true"}
    columns = {"id": "INT NOT NULL", "v": "STRING"}
    table = catalog.create_table("db.t", columns, primary_keys=primary_keys, options=options)
    for key, value in ((1, "a"), (2, "b"), (1, "c")):
        table.write([{"id": key, "v": value}])
    return table.refresh()


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("primary_keys", [[], ["id"]], ids=["append", "keyed"])
def test_rows_of_a_file_that_is_lost_or_damaged_are_left_out(
    file_format: str, primary_keys: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = three_files(tmp_path, file_format, primary_keys)
    path = max(Path(table.path).rglob("data-*"), key=lambda one: one.stat().st_mtime_ns)
    for option, other, damage in (
        (CORRUPT, LOST, lambda: path.write_bytes(b"corrupt file")),
        (LOST, CORRUPT, path.unlink),
    ):
        damage()
        with pytest.raises(CorruptDataError):
            table.scan(options={other: "true"}).to_arrow()
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            scan = table.scan(options={option: "true"})
            found = {(row["id"], row["v"]) for row in scan.to_arrow().to_pylist()}

        assert found == {(1, "a"), (2, "b")}
        assert scan.count() == 2
        (said,) = {record.getMessage() for record in caplog.records}
        assert "db.t is read without" in said
        assert str(path) in said


def test_an_option_of_the_table_counts_and_what_cannot_leave_files_out_is_refused(
    tmp_path: Path,
) -> None:
    table = three_files(tmp_path, "parquet", ["id"])
    catalog = paimonlab.connect(tmp_path)
    catalog.alter_table("db.t", SetOption(LOST, "true"))
    next(Path(table.path).rglob("data-*.parquet")).unlink()
    table = catalog.table("db.t")

    counted = engine.run(engine.plan("SELECT count(*) AS n FROM db.t", Sources(catalog)))
    looked_up = table.lookup({"id": [1, 2]})

    assert counted.to_pylist() == [{"n": table.scan().count()}]
    assert looked_up.num_rows == table.scan().count()
    for refused in (lambda: table.changes(1, 3).to_arrow(), table.follow):
        with pytest.raises(UnsupportedError, match=LOST):
            refused()
