"""Files of a store that are kept on the local disk; the store is a folder that counts here."""

from __future__ import annotations

import logging
import pickle
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from paimonlab.errors import StorageError
from paimonlab.storage import FileIO, LocalFileIO, kept_files
from paimonlab.storage.disk_cache import CachingFileIO, DiskCache
from paimonlab.storage.forwarding import ForwardingFileIO

BLOCK = 64 << 10


class Counted(ForwardingFileIO):
    """A store on a disk; says what it was asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.local = LocalFileIO()

    def _store(self) -> FileIO:
        return self.local

    def within(self, *roots: str) -> Counted:
        return self

    def read(self, path: str, *, limit_bytes: int = 64 << 20) -> bytes:
        self.asked["read"] += 1
        return self.local.read(path, limit_bytes=limit_bytes)

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        del size_bytes
        self.asked["open"] += 1
        return self.local.open_input(path)


def kept(path: str) -> bool:
    return "kept" in path


@pytest.fixture
def store() -> Counted:
    return Counted()


@pytest.fixture
def disk(tmp_path: Path) -> DiskCache:
    return DiskCache(folder=str(tmp_path / "cache"), block_bytes=BLOCK)


@pytest.fixture
def opened(store: Counted, disk: DiskCache) -> CachingFileIO:
    return CachingFileIO(store, disk, kept)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    for known in (kept_files._warned, kept_files._swept, kept_files._failed, kept_files._added):
        known.clear()


@pytest.fixture
def data(tmp_path: Path) -> Callable[[str, int], str]:
    def write(name: str, size_bytes: int) -> str:
        path = tmp_path / name
        path.write_bytes(random.Random(size_bytes).randbytes(size_bytes))
        return str(path)

    return write


def test_whole_files_are_read_once(
    opened: CachingFileIO, store: Counted, data: Callable[[str, int], str]
) -> None:
    path, other = data("kept-a", 1000), data("other", 10)
    first = Path(path).read_bytes()
    assert [opened.read(path), opened.within("/").read(path)] == [first, first]
    assert store.asked["read"] == 1
    assert [len(opened.read(other)) for _ in range(2)] == [10, 10]
    assert store.asked["read"] == 3
    Path(path).unlink()
    assert pickle.loads(pickle.dumps(CachingFileIO(LocalFileIO(), opened.cache, kept))).read(
        path
    ) == (first)


def test_files_are_read_at_random_by_blocks_that_are_kept(
    opened: CachingFileIO, store: Counted, data: Callable[[str, int], str]
) -> None:
    seed = random.randrange(10**6)
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201 - shown when it fails
    chance = random.Random(seed)
    path = data("kept-b", 5 * BLOCK + 17)
    whole = Path(path).read_bytes()
    for turn in range(3):
        with opened.open_input(path) as file:
            assert file.size() == len(whole)
            for _ in range(40):
                start = chance.randrange(len(whole) + 5)
                count = chance.randrange(3 * BLOCK)
                file.will_read([(start, min(start + count, len(whole)))])
                file.seek(start)
                assert file.read(count) == whole[start : start + count]
            file.seek(0)
            assert file.read() == whole
        assert store.asked["open"] == 1, f"turn {turn}"
    assert sum(path.is_file() for path in Path(opened.cache.folder).rglob("*")) == 6 + 1


def test_an_empty_file_has_no_blocks(
    opened: CachingFileIO, data: Callable[[str, int], str]
) -> None:
    path = data("kept-none", 0)
    for _ in range(2):
        with opened.open_input(path) as file:
            assert (file.size(), file.read()) == (0, b"")


def test_the_folder_is_for_this_user_alone(
    opened: CachingFileIO, data: Callable[[str, int], str]
) -> None:
    opened.read(data("kept-a", 10))
    folder = Path(opened.cache.folder)
    assert [oct(path.stat().st_mode & 0o777) for path in (folder, *folder.iterdir())] == [
        "0o700",
        "0o700",
    ]


@pytest.mark.parametrize("damage", [b"", b"x", b"another content of some length"])
def test_what_is_damaged_is_fetched_again(
    opened: CachingFileIO,
    store: Counted,
    data: Callable[[str, int], str],
    damage: bytes,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path, other = data("kept-a", 1000), data("kept-b", 1001)
    whole = opened.read(path)
    opened.read(other)
    one, two = (one for one in Path(opened.cache.folder).rglob("*") if one.is_file())
    one.write_bytes(damage)
    if not damage:
        one.write_bytes(two.read_bytes())  # that of another file
    with caplog.at_level(logging.WARNING):
        assert opened.read(path) == whole
        assert opened.read(other) == Path(other).read_bytes()
    assert "its content is not what was written" in caplog.text
    assert store.asked["read"] == 3
    opened.read(path), opened.read(other)
    assert store.asked["read"] == 3, "it was mended"


def test_the_limit_is_kept(store: Counted, tmp_path: Path) -> None:
    disk = DiskCache(folder=str(tmp_path / "cache"), block_bytes=BLOCK, limit_bytes=8 * BLOCK)
    opened = CachingFileIO(store, disk, kept)
    path = tmp_path / "kept-large"
    path.write_bytes(bytes(40 * BLOCK))
    sizes: list[int] = []
    with opened.open_input(str(path)) as file:
        for number in range(40):
            file.seek(number * BLOCK)
            file.read(BLOCK)
            sizes = [one.stat().st_size for one in Path(disk.folder).rglob("*") if one.is_file()]
            assert sum(sizes) <= 8 * BLOCK + BLOCK // 4
    assert sum(sizes) > 4 * BLOCK


@pytest.mark.parametrize("problem", ["full", "read-only", "no folder"])
def test_without_a_disk_that_takes_it_work_goes_on_with_one_warning(
    opened: CachingFileIO,
    store: Counted,
    data: Callable[[str, int], str],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = Path(opened.cache.folder)
    if problem == "full":
        monkeypatch.setattr(kept_files, "_LEAST_FREE", 2.0)
    elif problem == "read-only":
        folder.mkdir(mode=0o722)
        folder.chmod(0o722)
    else:
        folder.write_bytes(b"")
    paths = [data(f"kept-{number}", 3 * BLOCK) for number in range(3)]
    with caplog.at_level(logging.WARNING):
        for path in [*paths, *paths]:
            assert opened.read(path) == Path(path).read_bytes()
            with opened.open_input(path) as file:
                assert file.read() == Path(path).read_bytes()
    assert len(caplog.records) == 1
    assert "work goes on" in caplog.text
    assert store.asked["read"] == 6


def test_a_store_that_sends_too_little_is_an_error(
    opened: CachingFileIO, data: Callable[[str, int], str]
) -> None:
    path = data("kept-a", 3 * BLOCK)
    with opened.open_input(path) as file:
        Path(path).write_bytes(bytes(BLOCK))
        with pytest.raises(StorageError, match="bytes were asked for and"):
            file.read()
    assert opened.cache.find(f"{path}#{BLOCK}#2") is None


def test_all_that_changes_goes_to_the_store(opened: CachingFileIO, tmp_path: Path) -> None:
    path = str(tmp_path / "kept-new")
    assert opened.publish(path, b"a")
    assert not opened.publish(path, b"b")
    assert (opened.read(path), opened.exists(path), opened.size_bytes(path)) == (b"a", True, 1)
    opened.delete(path)
    assert not opened.has_file(path)
