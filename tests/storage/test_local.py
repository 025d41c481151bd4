from __future__ import annotations

import multiprocessing
import os
import posixpath
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from paimonlab.errors import CorruptDataError, CorruptMetadataError
from paimonlab.storage import LocalFileIO, safe_join


@pytest.fixture
def file_io() -> LocalFileIO:
    return LocalFileIO()


def test_publish_creates_only_if_absent(file_io: LocalFileIO, tmp_path: Path) -> None:
    path = str(tmp_path / "snapshot" / "snapshot-1")

    assert file_io.publish(path, b"first")
    assert not file_io.publish(path, b"second")

    assert file_io.read(path) == b"first"
    assert file_io.list_names(str(tmp_path / "snapshot")) == ["snapshot-1"]


def _race(folder: str, number: int, wins: multiprocessing.queues.Queue[tuple[int, int]]) -> None:
    for round_ in range(50):
        if LocalFileIO("none").publish(f"{folder}/{round_}", str(number).encode()):
            wins.put((round_, number))


def test_of_racing_processes_exactly_one_publishes(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    wins: multiprocessing.queues.Queue[tuple[int, int]] = context.Queue()
    racers = [context.Process(target=_race, args=(str(tmp_path), n, wins)) for n in range(4)]

    for racer in racers:
        racer.start()
    winners = dict(wins.get(timeout=60) for _ in range(50))
    for racer in racers:
        racer.join()

    assert wins.empty()
    assert winners == {r: int((tmp_path / str(r)).read_text()) for r in range(50)}


def test_replace_leaves_no_temporary_file(file_io: LocalFileIO, tmp_path: Path) -> None:
    path = str(tmp_path / "LATEST")

    file_io.replace(path, b"1")
    file_io.replace(path, b"2")

    assert file_io.read(path) == b"2"
    assert file_io.list_names(str(tmp_path)) == ["LATEST"]


def test_write_and_open_output_never_overwrite(file_io: LocalFileIO, tmp_path: Path) -> None:
    path = str(tmp_path / "a" / "b")
    file_io.write(path, b"x")

    with pytest.raises(FileExistsError):
        file_io.write(path, b"y")
    with pytest.raises(FileExistsError):
        file_io.open_output(path)

    assert file_io.read(path) == b"x"


def test_create_makes_folders_and_never_overwrites(file_io: LocalFileIO, tmp_path: Path) -> None:
    store, path = file_io.within(str(tmp_path)), str(tmp_path / "a" / "b" / "c" / "file")

    store.create(path, memoryview(b"first"))
    with pytest.raises(FileExistsError):
        store.create(path, b"second")
    store.sync_files({path: 5})

    assert Path(path).read_bytes() == b"first"


def test_create_makes_no_folder_through_a_link(file_io: LocalFileIO, tmp_path: Path) -> None:
    root, outside = tmp_path / "table", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "link").symlink_to(outside)

    with pytest.raises(CorruptMetadataError, match="link"):
        file_io.within(str(root)).create(str(root / "link" / "bucket-0" / "file"), b"x")

    assert not list(outside.iterdir())


def test_folders_that_are_new_are_not_looked_at(
    file_io: LocalFileIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, looked_at = file_io.within(str(tmp_path)), list[str]()
    look = os.lstat

    def looked(path: str) -> os.stat_result:
        looked_at.append(path)
        return look(path)

    monkeypatch.setattr(os, "lstat", looked)

    store.create(str(tmp_path / "part=1" / "bucket-0" / "file"), b"x")

    monkeypatch.undo()
    assert not looked_at, "what was made just now is no link"
    store.sync_files({str(tmp_path / "part=1" / "bucket-0" / "file"): 1})


def test_folders_are_made_again_that_others_deleted(file_io: LocalFileIO, tmp_path: Path) -> None:
    store, bucket = file_io.within(str(tmp_path)), tmp_path / "part=1" / "bucket-0"
    store.create(str(bucket / "first"), b"x")
    shutil.rmtree(tmp_path / "part=1")

    store.create(str(bucket / "second"), b"y")

    assert (bucket / "second").read_bytes() == b"y"


def test_open_output_then_sync_and_read_back(file_io: LocalFileIO, tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "folder" / "file")

    with file_io.open_output(path) as sink:
        sink.write(b"hello")
    file_io.sync_files({path: 5})

    with file_io.open_input(path) as source:
        assert source.read() == b"hello"
    assert file_io.size_bytes(path) == 5


def test_rename_never_overwrites(file_io: LocalFileIO, tmp_path: Path) -> None:
    for name in ("a", "b"):
        file_io.write(str(tmp_path / name), name.encode())

    with pytest.raises(FileExistsError):
        file_io.rename(str(tmp_path / "a"), str(tmp_path / "b"))

    file_io.rename(str(tmp_path / "a"), str(tmp_path / "c"))
    assert sorted(file_io.list_names(str(tmp_path))) == ["b", "c"]


def test_listing_and_deleting_what_is_not_there_is_fine(
    file_io: LocalFileIO, tmp_path: Path
) -> None:
    missing = str(tmp_path / "missing")

    assert file_io.list(missing) == []
    assert file_io.list_names(missing) == []
    file_io.delete(missing)
    file_io.delete_directory(missing)


def test_deleting_a_link_leaves_what_it_points_to(file_io: LocalFileIO, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").write_text("keep")
    (tmp_path / "link").symlink_to(tmp_path / "outside")

    file_io.delete_directory(str(tmp_path / "link"))

    assert (tmp_path / "outside" / "precious").read_text() == "keep"


def test_files_are_deleted_together_as_they_are_alone(tmp_path: Path) -> None:
    table, victim = tmp_path / "t", tmp_path / "victim"
    for folder in (table / "bucket-0", table / "bucket-1", victim):
        folder.mkdir(parents=True)
        (folder / "a").touch()
        (folder / "b").touch()
    (table / "linked").symlink_to(victim)
    (table / "bucket-1" / "link").symlink_to(victim / "a")
    names = ["bucket-0/a", "bucket-0/none", "bucket-1/a", "bucket-1/link", "linked/a", "gone/a"]
    paths = [f"{table}/{name}" for name in names]
    store = LocalFileIO().within(str(table))

    left = store.delete_files(paths)

    assert [*left] == [f"{table}/bucket-1/link", f"{table}/linked/a"]
    for path, error in left.items():
        with pytest.raises(type(error), match=re.escape(str(error))):
            store.delete(path)
    assert sorted(path.name for path in victim.iterdir()) == ["a", "b"]
    assert {str(path.relative_to(table)) for path in table.glob("bucket-*/*")} == {
        "bucket-0/b",
        "bucket-1/b",
        "bucket-1/link",
    }


@pytest.mark.parametrize("count", [1, 40])
def test_files_are_checked_together_as_they_are_alone(tmp_path: Path, count: int) -> None:
    """By one look at the folder, if there are many."""
    table, outside = tmp_path / "t", tmp_path / "outside"
    for folder in (table / "moved", outside):
        folder.mkdir(parents=True)
    names = {f"file {number}" for number in range(count)}
    for name in names:
        (table / "moved" / name).touch()
    (outside / "file").touch()
    (table / "inside").symlink_to(table / "moved")
    (table / "led-out").symlink_to(outside)
    store = LocalFileIO().within(str(table))

    store.check_files(str(table / "moved"), names | {"missing"})
    store.check_files(str(table / "inside"), names)
    store.check_files(str(table / "none"), names)
    with pytest.raises(CorruptMetadataError, match="a link that leads out of"):
        store.check_files(str(table / "led-out"), names)

    makers: dict[str, Callable[[Path], None]] = {
        "link": lambda path: path.symlink_to(outside / "file"),
        "pipe": os.mkfifo,
        "folder": lambda path: path.mkdir(),
    }
    for name, make in makers.items():
        make(table / "moved" / name)
        store.check_files(str(table / "moved"), names)
        with pytest.raises((CorruptDataError, CorruptMetadataError)) as alone:
            store.size_bytes(str(table / "moved" / name))
        with pytest.raises(type(alone.value), match=re.escape(str(alone.value))):
            store.check_files(str(table / "moved"), names | {name})

    trusting = LocalFileIO(follow_links=True).within(str(table))
    trusting.check_files(str(table / "moved"), names | {"link"})
    trusting.check_files(str(table / "led-out"), {"file"})


def test_list_tells_sizes_and_folders(file_io: LocalFileIO, tmp_path: Path) -> None:
    file_io.write(str(tmp_path / "file"), b"12345")
    (tmp_path / "folder").mkdir()

    found = {Path(s.path).name: (s.size_bytes, s.is_directory) for s in file_io.list(str(tmp_path))}

    assert found == {"file": (5, False), "folder": (0, True)}


@pytest.mark.parametrize(
    "name",
    ["", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a/./b", "a\\..\\b", "a\nb", "a\0b"],
)
def test_names_that_leave_the_folder_are_refused(name: str) -> None:
    with pytest.raises(CorruptMetadataError, match="manifest-1: the name"):
        safe_join("/w/t", name, referrer="manifest-1")


def test_no_names_lead_out_of_the_folder(seed: int) -> None:
    chance = random.Random(seed)
    joined = 0
    for _ in range(3_000):
        names = [
            "".join(chance.choices("ab.=-/\\\n", k=chance.randrange(5)))
            for _ in range(chance.randrange(1, 4))
        ]
        try:
            path = safe_join("/w/t", *names)
        except CorruptMetadataError:
            assert {"", ".", ".."} & {*"/".join(names).split("/")} or {*"\\\n"} & {*"".join(names)}
            continue
        joined += 1
        assert path == f"/w/t/{'/'.join(name.strip('/') for name in names)}"
        assert posixpath.normpath(path) == path
        assert not {*"\\\n"} & {*path}
    assert joined > 100


@pytest.mark.parametrize("name", ["x", "dt=a%2Fb/bucket-0/x.parquet", "...", "..x", "ü/日本"])
def test_ordinary_names_are_joined(name: str) -> None:
    assert safe_join("/w/t", name) == f"/w/t/{name}"
