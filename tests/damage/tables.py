"""Small tables that have files of every kind, and ways to damage a file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

import paimonlab as pl
from paimonlab.spec.statistics.table import ColumnStatistics, Statistics
from paimonlab.table.table import Table
from tests.golden import golden

Rows = list[tuple[Any, ...]]
Answers = dict[str, Rows]


def _rows(start: int, count: int) -> pa.Table:
    ids = range(start, start + count)
    return pa.table(
        {
            "dt": [f"day-{number % 2}" for number in ids],
            "id": pa.array(ids, pa.int32()),
            "v": [f"value {number * 7919}" for number in ids],
        }
    )


def _create(folder: Path, **definition: Any) -> Table:
    catalog = pl.connect(str(folder))
    catalog.create_database("db")
    columns = {"dt": "STRING NOT NULL", "id": "INT NOT NULL", "v": "STRING"}
    catalog.create_table("db.t", columns, partition_keys=["dt"], **definition)
    return catalog.alter_table("db.t", pl.UpdateComment("has two schemas"))


def _written(table: Table) -> None:
    """Five snapshots, two tags, statistics of two, two schemas."""
    for number, (start, count) in enumerate([(0, 10), (100, 25), (5, 60)], start=1):
        table.write(_rows(start, count))
        if number < 3:
            table.tags.create(f"t{number}")
    for snapshot_id, most in ((2, 124), (3, 64)):
        column = ColumnStatistics(id=1, min="0", max=str(most), null_count=0)
        statistics = Statistics(snapshot_id=snapshot_id, schema_id=0, columns={"id": column})
        table.commit([], statistics=statistics)


def append(folder: Path, file_format: str = "parquet") -> None:
    """Make an append table."""
    _written(_create(folder, options={"file.format": file_format}))


def keyed(folder: Path) -> None:
    """Make a primary-key table with dynamic buckets, which has hash indexes."""
    _written(_create(folder, primary_keys=["dt", "id"]))


def from_java(name: str) -> Callable[[Path], None]:
    """Copy a table that Java wrote."""

    def make(folder: Path) -> None:
        shutil.copytree(golden("java-1.3.1") / "wh/db.db" / name, folder / "db.db/t")

    return make


MAKERS: Mapping[str, Callable[[Path], None]] = {
    "append": append,
    "keyed": keyed,
    "orc": lambda folder: append(folder, "orc"),
    "avro": lambda folder: append(folder, "avro"),
    "vectors": from_java("append_dv"),
    "index": from_java("findex2"),
    "parquet manifests": from_java("mani_parquet"),
    "orc manifests": from_java("mani_orc"),
}


def reads(folder: Path) -> dict[str, Callable[[], Rows]]:
    """Return ways to read a table: the newest snapshot, each other one, each tag."""

    def rows(where: str | None = None, **point: Any) -> Rows:
        read = pl.connect(str(folder)).table("db.t")
        assert isinstance(read, Table)
        found = read.scan(where=where, **point).to_arrow()
        return sorted((tuple(row.values()) for row in found.to_pylist()), key=repr)

    sound = pl.connect(str(folder)).table("db.t")
    columns = sound.arrow_schema.names
    found: dict[str, Callable[[], Rows]] = {"latest": rows}
    for column in ("id", "a"):
        if column in columns:
            found["filtered"] = lambda column=column: rows(f"{column} >= 7")  # type: ignore[misc]
    root = folder / "db.db/t"
    for path in sorted(root.glob("snapshot/snapshot-*")):
        number = int(path.name.removeprefix("snapshot-"))
        found[path.name] = lambda number=number: rows(snapshot=number)  # type: ignore[misc]
    for path in sorted(root.glob("tag/tag-*")):
        name = path.name.removeprefix("tag-")
        found[path.name] = lambda name=name: rows(tag=name)  # type: ignore[misc]
    return found


def answers(folder: Path) -> Answers:
    """Read a sound table in all ways."""
    return {name: read() for name, read in reads(folder).items()}


def flip(data: bytes, *, at: float) -> bytes:
    """Flip one bit, ``at`` says where: 0 the first byte, 1 the last."""
    changed = bytearray(data)
    position = min(int(len(data) * at), len(data) - 1)
    changed[position] ^= 1 << (position % 8)
    return bytes(changed)


DAMAGES: Mapping[str, Callable[[bytes, bytes], bytes | None]] = {
    "missing": lambda data, other: None,
    "empty": lambda data, other: b"",
    "cut": lambda data, other: data[: len(data) // 2],
    "one byte short": lambda data, other: data[:-1],
    "a bit at the beginning": lambda data, other: flip(data, at=0),
    "a bit early": lambda data, other: flip(data, at=0.2),
    "a bit in the middle": lambda data, other: flip(data, at=0.5),
    "a bit late": lambda data, other: flip(data, at=0.8),
    "a bit at the end": lambda data, other: flip(data, at=1),
    "zeroed": lambda data, other: bytes(len(data)),
    "swapped": lambda data, other: other,
}
"""What becomes of the bytes of a file; the second argument is another file of its kind."""
