"""Folders of files that others wrote become tables: compared with what pyarrow reads of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

import paimonlab as pl
from paimonlab import dbapi
from paimonlab.catalog import migrating
from paimonlab.errors import CorruptDataError, SchemaError, UnsupportedError
from paimonlab.read.changed_rows import read_change_split
from paimonlab.storage import FileIO
from paimonlab.workers import Workers, side_by_side
from tests.catalog.pickling_workers import PicklingWorkers

ROWS = pa.table(
    {
        "a": pa.array([1, 2, 3, None], pa.int32()),
        "s": ["x", None, "z", "é"],
        "t": pa.array([0, 1, 2, 3], pa.timestamp("us")),
        "l": [[1], [], None, [2, 3]],
    }
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of files without partitions, and one that is none."""
    root = tmp_path / "lake" / "events"
    root.mkdir(parents=True)
    for number in range(6):
        pq.write_table(ROWS, root / f"part-{number}.snappy.parquet", row_group_size=2)
    (root / "_SUCCESS").touch()
    return root


@pytest.fixture
def partitions(tmp_path: Path) -> Path:
    """Return a folder as Spark writes them: partitions, hidden files, a null."""
    root = tmp_path / "lake" / "days"
    for day in ("2026-01-01", "2026-01-02", "__HIVE_DEFAULT_PARTITION__"):
        for kind in ("a%2Fb", "c"):
            part = root / f"dt={day}" / f"kind={kind}"
            part.mkdir(parents=True)
            pq.write_table(ROWS, part / "part-0.snappy.parquet")
    (root / "_SUCCESS").touch()
    return root


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the folder as pyarrow reads them."""
    has_partitions = any(path.is_dir() for path in folder.iterdir())
    partitioning = ds.HivePartitioning(
        pa.schema([("dt", pa.date32()), ("kind", pa.string())]),
        null_fallback="__HIVE_DEFAULT_PARTITION__",
    )
    rows = ds.dataset(
        folder, format="parquet", partitioning=partitioning if has_partitions else None
    ).to_table()
    return sorted(rows.to_pylist(), key=repr)


def rows_of(table: pl.Table, **how: Any) -> list[dict[str, Any]]:
    return sorted(table.scan(**how).to_arrow().to_pylist(), key=repr)


@pytest.mark.parametrize("workers", [side_by_side, PicklingWorkers()])
@pytest.mark.parametrize("moves", [True, False])
def test_files_become_those_of_a_table(
    catalog: pl.Catalog, folder: Path, moves: bool, workers: Workers
) -> None:
    expected = read(folder)
    plan = catalog.migrate_folder(str(folder), "db.t", moves=moves, dry_run=True)
    assert f": would {'move' if moves else 'copy'} 6 files, 24 rows, " in repr(plan)
    assert not catalog.has_table("db.t")
    assert (len(plan.files), plan.row_count, plan.partition_keys) == (6, 24, ())
    steps = list[tuple[int, int, str]]()
    done = migrating.migrate_folder(
        catalog,
        str(folder),
        "db.t",
        moves=moves,
        progress=lambda *step: steps.append(step),
        workers=workers,
    )
    assert done.is_compared is not moves
    table = catalog.table("db.t")
    assert done.snapshot is not None
    assert (done.row_count, done.snapshot.total_record_count) == (24, 24)
    assert rows_of(table) == expected
    assert steps[-1] == (6, 6, "files")
    assert len(list(folder.rglob("*.parquet"))) == (0 if moves else 6)
    assert (folder / "_SUCCESS").exists()
    assert not (Path(table.path) / "migration.json").exists()


@pytest.mark.parametrize("workers", [side_by_side, PicklingWorkers()])
def test_folders_of_partitions_are_written_anew(
    catalog: pl.Catalog, partitions: Path, workers: Workers
) -> None:
    expected = read(partitions)
    plan = catalog.migrate_folder(str(partitions), "db.t", dry_run=True)
    assert (len(plan.files), plan.row_count, plan.partition_keys) == (6, 24, ("dt", "kind"))
    done = migrating.migrate_folder(catalog, str(partitions), "db.t", workers=workers)
    assert dict(done.columns)["dt"] == "DATE"
    assert done.is_compared
    table = catalog.table("db.t")
    assert rows_of(table) == expected
    assert len(rows_of(table, where="dt IS NULL")) == 8
    assert len(list(partitions.rglob("*.parquet"))) == 6


def test_files_of_partitions_are_moved(
    catalog: pl.Catalog, partitions: Path, tmp_path: Path
) -> None:
    expected = read(partitions)
    done = catalog.migrate_folder(str(partitions), "db.t", moves=True)
    table = catalog.table("db.t")
    assert done.snapshot is not None
    assert done.snapshot.total_record_count == 24
    assert list(partitions.rglob("*.parquet")) == []
    assert rows_of(table) == expected
    assert len(rows_of(table, where="dt IS NULL")) == 8
    assert rows_of(table, columns=["kind"], where="a > 1 AND kind <> 'c'") == 6 * [{"kind": "a/b"}]
    assert len(rows_of(table, where="a = 1 OR kind = 'c'")) == 3 + 12
    assert not table.fsck(deep=True).findings

    sql = "SELECT kind, count(*) AS n, max(dt) AS dt FROM db.t WHERE a < 3 GROUP BY kind"
    cursor = dbapi.connect(tmp_path / "warehouse").cursor().execute(sql)
    assert sorted(cursor.fetchall()) == [(kind, 6, date(2026, 1, 2)) for kind in ("a/b", "c")]

    table.delete("s = 'x' AND kind = 'c'")
    kept = [row for row in expected if not (row["s"] == "x" and row["kind"] == "c")]
    table.compact(full=True)
    assert rows_of(table) == sorted(kept, key=repr)


def test_what_was_migrated_is_a_table_like_others(catalog: pl.Catalog, folder: Path) -> None:
    catalog.migrate_folder(str(folder), "db.t", moves=True)
    table = catalog.table("db.t")
    assert len(rows_of(table, where="a > 1")) == 12
    assert not table.scan(where="a > 100").plan().splits
    table.delete("s = 'x'")
    table.write(table.scan(where="a = 3").to_arrow())
    assert table.scan().count() == 24 - 6 + 6
    before = rows_of(table)
    table.compact(full=True)
    assert rows_of(table) == before


def test_orc_files_without_partitions(catalog: pl.Catalog, tmp_path: Path) -> None:
    plain = ROWS.drop_columns(["l"])
    tmp_path /= "orc"
    tmp_path.mkdir()
    for number in range(2):
        orc.write_table(plain, tmp_path / f"{number:06}_0")
    catalog.migrate_folder(str(tmp_path), "db.t", file_format="orc")
    assert rows_of(catalog.table("db.t")) == sorted(2 * plain.to_pylist(), key=repr)
    with pytest.raises(SchemaError, match="is orc, not parquet"):
        catalog.migrate_folder(str(tmp_path), "db.u", file_format="parquet")


def test_partition_columns_have_the_types_that_are_given(
    catalog: pl.Catalog, tmp_path: Path
) -> None:
    tmp_path /= "n"
    tmp_path.mkdir()
    for text in ("007", "12"):
        (tmp_path / f"n={text}").mkdir()
        pq.write_table(ROWS, tmp_path / f"n={text}" / "x.parquet")
    assert dict(catalog.migrate_folder(str(tmp_path), "db.t").columns)["n"] == "STRING"
    done = catalog.migrate_folder(str(tmp_path), "db.u", partition_types={"n": "BIGINT"})
    assert dict(done.columns)["n"] == "BIGINT"
    values = {row["n"] for row in rows_of(catalog.table("db.u"))}
    assert values == {7, 12}
    with pytest.raises(SchemaError, match=r"not DATE"):
        catalog.migrate_folder(str(tmp_path), "db.v", partition_types={"n": "DATE"})
    assert not catalog.has_table("db.v")


Change = Callable[[Path], object]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda f: pq.write_table(pa.table({"a": [1]}), f / "x.parquet"), SchemaError, "'a'"),
        (lambda f: (f / "x.csv").write_text("a,b"), UnsupportedError, "neither"),
        (lambda f: (f / "x.parquet").write_bytes(b"PAR1abc"), CorruptDataError, "x.parquet"),
        (lambda f: (f / "sub").mkdir() or (f / "sub/x").touch(), UnsupportedError, "sub"),
    ],
)
def test_nothing_is_moved_where_a_file_does_not_fit(
    catalog: pl.Catalog, folder: Path, change: Change, error: type[Exception], message: str
) -> None:
    change(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(error, match=message):
        catalog.migrate_folder(str(folder), "db.t", moves=True)
    assert sorted(folder.rglob("*")) == before
    assert not catalog.has_table("db.t")


def test_tables_that_cannot_take_files(catalog: pl.Catalog, folder: Path) -> None:
    catalog.create_table("db.k", {"a": "INT NOT NULL"}, primary_keys=["a"], options={"bucket": "1"})
    with pytest.raises(UnsupportedError, match="primary key or buckets"):
        catalog.migrate_folder(str(folder), "db.k")
    catalog.create_table("db.o", {"a": "BIGINT"})
    with pytest.raises(SchemaError, match="other columns"):
        catalog.migrate_folder(str(folder), "db.o")
    iceberg = {"metadata.iceberg.storage": "table-location"}
    for options in (iceberg, {"bucket": "2", "bucket-key": "a"}):
        with pytest.raises(UnsupportedError):
            catalog.migrate_folder(str(folder), "db.t", options=options)


def test_files_are_added_to_a_table_that_is_there(catalog: pl.Catalog, folder: Path) -> None:
    expected = read(folder)
    catalog.migrate_folder(str(folder), "db.t")
    catalog.migrate_folder(str(folder), "db.t")
    assert rows_of(catalog.table("db.t")) == sorted(2 * expected, key=repr)


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("moves", [True, False])
@pytest.mark.parametrize("after", ["begun", 1, 3, "moved", "committed"])
def test_a_migration_that_was_killed_is_gone_on_with(
    catalog: pl.Catalog,
    folder: Path,
    moves: bool,
    after: str | int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = read(folder)
    with monkeypatch.context() as patched:
        _kill(patched, after)
        with pytest.raises(Killed):
            catalog.migrate_folder(str(folder), "db.t", moves=moves)
    with pytest.raises(UnsupportedError, match="not finished"):
        catalog.table("db.t").maintenance.remove_orphan_files(older_than="2 d", dry_run=True)
    with pytest.raises(SchemaError, match="not finished"):
        catalog.migrate_folder(str(folder.parent), "db.t", moves=moves)
    done = catalog.migrate_folder(str(folder), "db.t", moves=moves)
    assert done.is_resumed
    assert rows_of(catalog.table("db.t")) == expected
    assert catalog.table("db.t").snapshot.id == 1  # type: ignore[union-attr]


def test_rows_that_are_written_anew_are_committed_once(
    catalog: pl.Catalog, partitions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = read(partitions)
    io = type(catalog.file_io)
    real = io.delete

    def delete(self: FileIO, path: str) -> None:
        if not path.endswith("migration.json"):  # a killed process deletes nothing
            real(self, path)

    with monkeypatch.context() as patched:
        _kill(patched, "committed")
        patched.setattr(io, "delete", delete)
        with pytest.raises(Killed):
            catalog.migrate_folder(str(partitions), "db.t")
    done = catalog.migrate_folder(str(partitions), "db.t")
    assert done.is_resumed
    assert rows_of(catalog.table("db.t")) == expected
    assert catalog.table("db.t").snapshot.id == 1  # type: ignore[union-attr]


def _kill(patched: pytest.MonkeyPatch, after: str | int) -> None:
    if isinstance(after, int):
        real, count = migrating._transferred, 0

        def transferred(*args: Any, **how: Any) -> bool:
            nonlocal count
            count += 1
            if count > after:
                raise Killed
            return real(*args, **how)

        patched.setattr(migrating, "_transferred", transferred)
        return

    def killed(*_: object, **__: object) -> None:
        raise Killed

    name = {"begun": "_transferred", "moved": "messages_of"}.get(str(after))
    if name is not None:
        patched.setattr(migrating, name, killed)
    else:
        real_commit = pl.Table.commit

        def commit(self: pl.Table, *args: Any, **how: Any) -> Any:
            real_commit(self, *args, **how)
            raise Killed

        patched.setattr(pl.Table, "commit", commit)


def test_a_file_that_changed_meanwhile_is_not_taken(
    catalog: pl.Catalog, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        _kill(patched, "begun")
        with pytest.raises(Killed):
            catalog.migrate_folder(str(folder), "db.t")
    path = next(folder.rglob("*.parquet"))
    pq.write_table(ROWS.slice(1), path)
    os.utime(path)
    with pytest.raises(CorruptDataError, match="when it was planned"):
        catalog.migrate_folder(str(folder), "db.t")


def test_a_copy_with_other_bytes_is_an_error_and_is_copied_again(
    catalog: pl.Catalog, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = read(folder)
    right = migrating._checksum
    with monkeypatch.context() as damaged:
        damaged.setattr(migrating, "_checksum", lambda io, path: right(io, path) ^ 1)
        with pytest.raises(CorruptDataError, match=r"it has not the bytes of .*parquet"):
            catalog.migrate_folder(str(folder), "db.t")
    assert not list(Path(catalog.table("db.t").path).rglob("*.parquet"))

    done = catalog.migrate_folder(str(folder), "db.t")

    assert (done.is_resumed, done.is_compared) == (True, True)
    assert rows_of(catalog.table("db.t")) == expected


def test_rows_are_there_once_where_comparing_them_was_ended(
    catalog: pl.Catalog, partitions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = read(partitions)

    def end(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as ended:
        ended.setattr(migrating, "digest_of_added", end)
        with pytest.raises(KeyboardInterrupt):
            catalog.migrate_folder(str(partitions), "db.t")

    done = catalog.migrate_folder(str(partitions), "db.t")

    assert (done.is_resumed, done.is_compared) == (True, True)
    assert rows_of(catalog.table("db.t")) == expected


@pytest.mark.parametrize("workers", [side_by_side, PicklingWorkers()])
def test_rows_that_are_added_to_others_are_compared_one_by_one(
    catalog: pl.Catalog, partitions: Path, monkeypatch: pytest.MonkeyPatch, workers: Workers
) -> None:
    """One that the writer made another of is found, though there are as many."""
    buckets = {"bucket": "2", "bucket-key": "a"}
    migrating.migrate_folder(catalog, str(partitions), "db.t", workers=workers, options=buckets)
    assert migrating.migrate_folder(catalog, str(partitions), "db.t", workers=workers).is_compared

    def changed(*args: Any) -> Iterator[pa.RecordBatch]:
        for batch in read_change_split(*args):
            yield batch.set_column(1, batch.schema.field(1), pc.negate(batch["a"]))

    with monkeypatch.context() as patched:
        patched.setattr("paimonlab.table.writing.by_workers.read_change_split", changed)
        with pytest.raises(CorruptDataError, match="got 24 rows that are not the 24 of"):
            migrating.migrate_folder(catalog, str(partitions), "db.t", workers=workers)
    done = migrating.migrate_folder(catalog, str(partitions), "db.t", workers=workers)
    assert (done.is_resumed, done.is_compared) == (True, True)
    assert rows_of(catalog.table("db.t")) == sorted(3 * read(partitions), key=repr)
