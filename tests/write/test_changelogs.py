"""Changelog files of writers, and row kinds out of a column."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import DataError, SchemaError

INPUT = {"bucket": "2", "changelog-producer": "input"}


def make(catalog: pl.Catalog, **options: str) -> pl.Table:
    columns = {"k": "INT", "v": "STRING"}
    return catalog.create_table("db.t", columns, primary_keys=["k"], options=INPUT | options)


def rows(*given: tuple[str, int, str]) -> pa.Table:
    kinds, keys, values = zip(*given, strict=True)
    return pa.table({"kind": kinds, "k": pa.array(keys, pa.int32()), "v": values})


def changes(table: pl.Table, start: int, end: int) -> list[tuple[object, ...]]:
    found = table.changes(start, end, mode="changelog").to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in found)


@pytest.mark.parametrize("buffer", ["256 mb", "1 b"])
def test_every_row_that_came_is_in_the_changelog(catalog: pl.Catalog, buffer: str) -> None:
    table = make(catalog, **{"write-buffer-size": buffer})
    first = [("+I", 1, "a"), ("-U", 1, "a"), ("+U", 1, "b"), ("+I", 2, "c"), ("-D", 2, "c")]
    second = [("+I", 1, "d"), ("+I", 3, "e"), ("+I", 3, "e")]

    table.write(rows(*first), row_kinds="kind")
    snapshot = table.write(rows(*second), row_kinds="kind")

    assert snapshot is not None
    assert snapshot.changelog_record_count == 3
    assert changes(table, 0, 1) == sorted(first)
    assert changes(table, 1, 2) == sorted(second)
    found = table.scan().to_arrow().to_pylist()
    assert sorted((row["k"], row["v"]) for row in found) == [(1, "d"), (3, "e")]
    names = {file.name.split("-")[0] for file in Path(table.path).glob("bucket-*/*")}
    assert names == {"data", "changelog"}


def test_changelog_files_of_a_write_that_failed_are_deleted(catalog: pl.Catalog) -> None:
    table = make(catalog, **{"changelog-file.prefix": "log-"})
    writer = table.new_writer()
    writer.write(rows(("+I", 1, "a")).drop_columns(["kind"]))
    writer._writer._flush(everything=True)
    assert any(file.name.startswith("log-") for file in Path(table.path).glob("bucket-*/*"))

    writer.abort()

    assert not list(Path(table.path).glob("bucket-*/*"))


def test_kinds_come_from_a_column_that_is_kept(catalog: pl.Catalog) -> None:
    table = catalog.create_table(
        "db.t",
        {"k": "INT", "op": "STRING"},
        primary_keys=["k"],
        options={**INPUT, "rowkind.field": "op"},
    )
    kinds = ["+I", "+I", "-D", "+U"]
    keys = pa.array([1, 2, 2, 3], pa.int32())
    table.write(pa.table({"k": keys, "op": kinds}))

    found = table.scan().to_arrow().to_pylist()
    assert sorted((row["k"], row["op"]) for row in found) == [(1, "+I"), (3, "+U")]
    assert changes(table, 0, 1) == [
        ("+I", 1, "+I"), ("+I", 2, "+I"), ("+U", 3, "+U"), ("-D", 2, "-D"),
    ]  # fmt: skip
    for bad in ("insert", None):
        with pytest.raises(DataError, match="row kind"):
            table.write(pa.table({"k": keys[:1], "op": pa.array([bad], pa.string())}))
    with pytest.raises(DataError, match=r"rowkind\.field"):
        table.write(pa.table({"k": keys, "op": kinds, "x": kinds}), row_kinds="x")


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ({"rowkind.field": "none"}, ["k"]),
        ({"rowkind.field": "k"}, ["k"]),
        ({"changelog-producer": "input"}, []),
        ({"changelog-producer": "input", "merge-engine": "first-row"}, ["k"]),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(
    catalog: pl.Catalog, options: dict[str, str], keys: list[str]
) -> None:
    bucket = {"bucket": "1"} if keys else {}
    with pytest.raises(SchemaError):
        catalog.create_table("db.t", {"k": "INT"}, primary_keys=keys, options=bucket | options)
