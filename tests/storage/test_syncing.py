"""What is synced, and that it is before anything can refer to it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.storage import LocalFileIO, syncing

Act = Callable[[LocalFileIO, Path], object]


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The names that files and folders have when they are synced, relative to the test's."""
    found: list[str] = []

    def fsync(descriptor: int) -> None:
        inode = os.fstat(descriptor).st_ino
        everything = [tmp_path, *tmp_path.rglob("*")]
        [path] = [path for path in everything if path.stat().st_ino == inode]
        found.append("temporary" if path.suffix == ".tmp" else str(path.relative_to(tmp_path)))

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def _write(store: LocalFileIO, path: Path) -> None:
    store.write(str(path), b"x")


def _publish(store: LocalFileIO, path: Path) -> None:
    assert store.publish(str(path), b"x")


def _write_by_pieces(store: LocalFileIO, path: Path) -> None:
    with store.open_output(str(path)) as sink:
        sink.write(b"x")
    store.sync_files({str(path): 1})


def _replace(store: LocalFileIO, path: Path) -> None:
    store.replace(str(path), b"x")


def _replace_hint(store: LocalFileIO, path: Path) -> None:
    path.parent.mkdir(parents=True)
    store.replace(str(path), b"x", durable=False)


_ALL = [
    *((_write, "a/b/file"), (_publish, "temporary"), (_write_by_pieces, "a/b/file")),
    (_replace, "temporary"),
]


@pytest.mark.parametrize(("act", "file"), _ALL)
def test_a_file_is_synced_and_then_its_folder(
    synced: list[str], tmp_path: Path, act: Act, file: str
) -> None:
    act(LocalFileIO(), tmp_path / "a" / "b" / "file")

    parents, own = synced[:2], synced[2:]
    assert sorted(parents) == [".", "a"], "those that got a new folder"
    assert own == [file, "a/b"]


def _make(store: LocalFileIO, path: Path) -> None:
    with store.open_output(str(path)) as sink:
        sink.write(b"x")


def test_folders_below_a_root_are_synced_with_the_files_in_them(
    synced: list[str], tmp_path: Path
) -> None:
    store = LocalFileIO().within(str(tmp_path))
    paths = [tmp_path / "a" / name / "file" for name in "bc"]
    for path in paths:
        _make(store, path)

    assert synced == [], "files that are not synced yet need no folder that is"
    store.sync_files({str(path): 1 for path in paths})

    assert synced[:2] == ["a/b/file", "a/c/file"]
    assert sorted(synced[2:]) == [".", "a", "a/b", "a/c"], "each folder once"


def test_a_folder_that_is_known_to_be_durable_costs_no_sync_of_those_above(
    synced: list[str], tmp_path: Path
) -> None:
    store = LocalFileIO().within(str(tmp_path))
    for name in ("first", "second"):
        path = tmp_path / "a" / "b" / name
        _make(store, path)
        synced.clear()
        store.sync_files({str(path): 1})

    assert synced == ["a/b/second", "a/b"]


@pytest.mark.parametrize("is_made_again", [False, True])
def test_whoever_finds_a_folder_syncs_those_above_it_as_well(
    synced: list[str],
    tmp_path: Path,
    is_made_again: bool,
) -> None:
    ours, others = (LocalFileIO().within(str(tmp_path)) for _ in range(2))
    folder = tmp_path / "a" / "b"
    if is_made_again:
        _make(ours, folder / "first")
        ours.sync_files({str(folder / "first"): 1})
        (folder / "first").unlink()
        folder.rmdir()
    maker = ours if is_made_again else others
    _make(maker, folder / "theirs")
    synced.clear()

    _make(ours, folder / "ours")
    ours.sync_files({str(folder / "ours"): 1})

    assert synced[:1] == ["a/b/ours"]
    assert {"a/b", "a"} <= set(synced[1:]), "who made the folder may not have synced it yet"


def test_many_files_are_synced_by_several_threads_and_an_error_names_its_file(
    synced: list[str], tmp_path: Path
) -> None:
    store = LocalFileIO().within(str(tmp_path))
    paths = [tmp_path / f"p={number}" / "file" for number in range(50)]
    for path in paths:
        _make(store, path)

    sizes = {str(path): 1 for path in paths}
    store.sync_files(sizes)

    assert sorted(synced) == sorted(
        [".", *(f"p={number}{name}" for number in range(50) for name in ("", "/file"))]
    )
    sizes[str(paths[7])] = 2
    with pytest.raises(OSError, match="2 bytes were written and 1 are there") as error:
        store.sync_files(sizes)
    assert error.value.filename == str(paths[7])


def test_both_folders_of_a_file_that_moves_are_synced(synced: list[str], tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a" / "file").touch()

    LocalFileIO().rename(str(tmp_path / "a" / "file"), str(tmp_path / "b" / "file"))

    assert sorted(synced) == ["a", "b"]


def test_a_hint_is_not_synced(synced: list[str], tmp_path: Path) -> None:
    _replace_hint(LocalFileIO(), tmp_path / "a" / "LATEST")

    assert synced == []


@pytest.mark.parametrize("act", [act for act, _ in _ALL])
def test_nothing_is_synced_where_that_is_left_to_the_system(
    synced: list[str], tmp_path: Path, act: Act
) -> None:
    act(LocalFileIO("none"), tmp_path / "a" / "b" / "file")

    assert synced == []


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The files that the system is asked to begin with, relative to the test's folder."""
    found: list[str] = []

    def begin(descriptor: int, start: int, length: int, flags: int) -> int:
        assert (start, length, flags) == (0, 0, 2), "all of it, waiting for nothing"
        inode = os.fstat(descriptor).st_ino
        [path] = [path for path in tmp_path.rglob("*") if path.stat().st_ino == inode]
        found.append(str(path.relative_to(tmp_path)))
        return -1  # whatever went wrong, `sync_files` reports it

    monkeypatch.setattr(syncing, "_sync_file_range", lambda: begin)
    return found


def test_large_files_go_to_the_disk_before_anybody_waits_for_them(
    synced: list[str], begun: list[str], tmp_path: Path
) -> None:
    store = LocalFileIO().within(str(tmp_path))
    store.create(str(tmp_path / "large"), bytes(1 << 16))
    store.create(str(tmp_path / "small"), b"x")
    with store.open_output(str(tmp_path / "open")) as output:
        output.write(bytes(1 << 16))
        store.begin_sync(output)

    assert begun == ["large", "open"]
    assert synced == [], "nobody has waited yet"
    store.sync_files({str(tmp_path / "large"): 1 << 16, str(tmp_path / "open"): 1 << 16})
    assert synced == ["large", "open", "."]


def test_a_system_that_cannot_begin_early_syncs_all_the_same(
    synced: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "_sync_file_range", lambda: None)
    store = LocalFileIO().within(str(tmp_path))
    store.create(str(tmp_path / "large"), bytes(1 << 16))
    store.sync_files({str(tmp_path / "large"): 1 << 16})

    assert synced == ["large", "."]


def test_nothing_is_begun_where_syncing_is_left_to_the_system(
    begun: list[str], tmp_path: Path
) -> None:
    store = LocalFileIO(durability="none")
    store.create(str(tmp_path / "created"), bytes(1 << 16))
    with store.open_output(str(tmp_path / "open")) as output:
        output.write(bytes(1 << 16))
        store.begin_sync(output)

    assert begun == []


def test_row_groups_go_to_the_disk_while_the_next_are_encoded(
    begun: list[str], tmp_path: Path
) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    rows = 5 * (1 << 17)
    table.write(pa.table({"id": np.random.default_rng(1).integers(0, 2**60, rows)}))

    data = [path for path in begun if "bucket-0" in path]
    assert len(data) >= 3
    assert len(set(data)) == 1
