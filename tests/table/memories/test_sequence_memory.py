from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import FilesConflictError
from paimonlab.scan.sequences import restore_sequence_numbers
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    columns = {"dt": "STRING NOT NULL", "id": "INT NOT NULL"}
    keys = ["dt", "id"]
    return catalog.create_table(
        "db.t", columns, primary_keys=keys, partition_keys=["dt"], options={"bucket": "2"}
    )


def rows(day: str, *ids: int) -> pa.Table:
    return pa.table({"dt": [day] * len(ids), "id": pa.array(ids, pa.int32())})


def as_rows(numbers: pa.Table) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in numbers.to_pylist())


def test_what_is_followed_is_what_would_be_read(table: Table) -> None:
    memory = store_of(table).sequence_memory
    for number in range(6):
        table.write(rows("ab"[number % 2], *range(number, number + 5)))
        if number == 3:
            table.overwrite(rows("a", 1), partition={"dt": "a"})

        found = memory.at(table.snapshot)

        assert as_rows(found) == as_rows(
            restore_sequence_numbers(table.snapshot, store_of(table).manifests)
        )


def test_a_table_that_was_rolled_back_is_read_anew(table: Table) -> None:
    table.write(rows("a", 1, 2))
    table.write(rows("a", 3, 4, 5, 6, 7))
    memory = store_of(table).sequence_memory
    memory.at(table.snapshot)
    for name in ("snapshot-2", "LATEST"):
        Path(table.path, "snapshot", name).unlink()
    for _ in range(2):
        pl.connect(str(Path(table.path).parents[1])).table("db.t").write(rows("b", 1))

    found = memory.at(table.snapshot)

    assert as_rows(found) == as_rows(
        restore_sequence_numbers(table.snapshot, store_of(table).manifests)
    )


def test_another_number_of_buckets_is_still_a_conflict(table: Table) -> None:
    table.write(rows("a", 1, 2))
    other = pl.connect(str(Path(table.path).parents[1])).alter_table(
        "db.t", pl.SetOption("bucket", "4")
    )

    with pytest.raises(FilesConflictError, match="for 4 buckets meet files of 2"):
        other.write(rows("a", 3))
    other.write(rows("b", 3))

    assert table.scan().count() == 3
