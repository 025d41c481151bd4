"""What `FileIO` promises, of each store."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

from paimonlab.errors import CorruptMetadataError, StorageError
from paimonlab.storage import FileIO, LocalFileIO, ReadOnlyFileIO, hdfs, stores
from paimonlab.storage.stores import object_file_io
from tests.repetitions import times
from tests.storage.stores.conftest import options_of

_IS_WHOLE = os.environ.get("PAIMONLAB_INTEROP") == "require"
_SAMPLE = (
    "test_what_is_published_first_stays",
    "test_new_files_never_overwrite",
    "test_missing_files_are_named",
    "test_names_are_kept_as_they_are",
    "test_files_are_not_moved_onto_others",
)
"""Of OBS and WebHDFS in usual runs."""
_CEPH = pytest.param("ceph", marks=pytest.mark.interop)


@pytest.fixture(params=["local", "s3", "azure", "gcs", "oss", "obs", "hdfs", "webhdfs", _CEPH])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[FileIO, str]:
    """A store and a folder in it."""
    if request.param == "local":
        return LocalFileIO(), str(tmp_path)
    name = "warehouse" if request.param == "s3" else f"{request.param}_warehouse"
    if request.param in ("obs", "webhdfs") and not _IS_WHOLE:
        test = getattr(request.function, "__name__", "")
        if test not in _SAMPLE:
            pytest.skip("all of OBS and WebHDFS is part of make interop")
    options = request.getfixturevalue(name)
    store = (hdfs if request.param.endswith("hdfs") else stores).open_warehouse(
        options["warehouse"], options
    )
    return store, store.root


def test_what_is_published_first_stays(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    path = f"{root}/snapshot/snapshot-1"

    assert file_io.publish(path, b"first")
    assert not file_io.publish(path, b"second")
    assert not file_io.publish(path, b"first"), "equal bytes of another call are not its own"

    assert file_io.read(path) == b"first"
    assert file_io.list_names(f"{root}/snapshot") == ["snapshot-1"]


def test_of_racing_threads_exactly_one_publishes(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    with ThreadPoolExecutor(32) as pool:
        for turn in range(times(4)):
            path = f"{root}/race/{turn}"
            won = list(pool.map(lambda n, p=path: file_io.publish(p, b"%d" % n), range(32)))
            assert won.count(True) == 1
            assert file_io.read(path) == b"%d" % won.index(True)


def test_new_files_never_overwrite(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    path = f"{root}/a/b"
    file_io.write(path, b"1")

    with pytest.raises(FileExistsError):
        file_io.write(path, b"2")
    with pytest.raises(FileExistsError), file_io.open_output(path) as output:
        output.write(b"2")

    assert file_io.read(path) == b"1"


def test_replacing_needs_no_file(place: tuple[FileIO, str]) -> None:
    file_io, root = place

    file_io.replace(f"{root}/LATEST", b"1")
    file_io.replace(f"{root}/LATEST", b"2")

    assert file_io.read(f"{root}/LATEST") == b"2"
    assert file_io.list_names(root) == ["LATEST"]


def test_missing_files_are_named(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    path = f"{root}/none"
    calls: list[Callable[[], object]] = [
        lambda: file_io.read(path),
        lambda: file_io.open_input(path),
        lambda: file_io.size_bytes(path),
        lambda: file_io.rename(path, f"{root}/other"),
    ]
    for call in calls:
        with pytest.raises(FileNotFoundError) as raised:
            call()
        assert raised.value.filename == path
    file_io.delete(path)
    file_io.delete_directory(path)
    assert not file_io.delete_files([path])
    assert not file_io.exists(path)
    assert file_io.list(path) == []
    assert file_io.list_names(path) == []
    assert not file_io.delete_empty_directory(path)


def test_folders_begin_and_end(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    folder = f"{root}/db.db"

    file_io.make_directory(folder)
    file_io.make_directory(folder)
    assert file_io.exists(folder)
    assert file_io.list(folder) == []
    assert [status.is_directory for status in file_io.list(root)] == [True]

    file_io.write(f"{folder}/t/x", b"1")
    assert not file_io.delete_empty_directory(folder)
    file_io.delete(f"{folder}/t/x")
    file_io.delete_empty_directory(f"{folder}/t")
    assert file_io.delete_empty_directory(folder)
    assert not file_io.exists(folder)


def test_a_folder_is_deleted_with_all_in_it_and_nothing_else(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    for name in ("t/a", "t/b/c/d", "t2/a", "t.x"):
        file_io.write(f"{root}/{name}", b"1")

    file_io.delete_directory(f"{root}/t")

    assert sorted(file_io.list_names(root)) == ["t.x", "t2"]


@pytest.mark.parametrize("name", ["dt=2026-01-01%3A00", "a b+c&d=é", "x%2Fy", "100%"])
def test_names_are_kept_as_they_are(place: tuple[FileIO, str], name: str) -> None:
    file_io, root = place
    file_io.write(f"{root}/{name}/f", b"1")

    assert file_io.list_names(root) == [name]
    assert [status.path for status in file_io.list(root)] == [f"{root}/{name}"]
    assert [s.path for s in file_io.list(f"{root}/{name}")] == [f"{root}/{name}/f"]
    assert file_io.read(f"{root}/{name}/f") == b"1"


def test_more_files_are_listed_and_deleted_than_a_page_has(
    place: tuple[FileIO, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages of the servers of the tests have 100 files or fewer, but for Azurite and Ceph."""
    monkeypatch.setattr(object_file_io, "_DELETED_AT_ONCE", 40)
    file_io, root = place
    count = 50 if root.startswith(("abfs", "hdfs", "webhdfs")) else 110
    paths = [f"{root}/many/{number}" for number in range(count)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda path: file_io.replace(path, b"1", durable=False), paths))

    assert sorted(status.path for status in file_io.list(f"{root}/many")) == sorted(paths)
    assert file_io.delete_files(paths) == {}
    assert file_io.list(f"{root}/many") == []


@pytest.mark.parametrize("size", [0, 1, 70_000, 9 << 20])
def test_bytes_come_back_from_every_position(place: tuple[FileIO, str], size: int) -> None:
    file_io, root = place
    random = np.random.default_rng(size)
    data = random.bytes(size)
    path = f"{root}/data"
    with file_io.open_output(path) as output:
        for start in range(0, size, 3 << 20):
            output.write(data[start : start + (3 << 20)])
    file_io.sync_files({path: size})

    assert file_io.size_bytes(path) == size
    assert file_io.read(path, limit_bytes=size) == data
    with file_io.open_input(path) as source:
        assert source.size() == size
        for _ in range(30):
            start, count = (int(random.integers(0, limit)) for limit in (size + 1, 200_000))
            source.seek(start)
            assert source.read(count) == data[start : start + count]
        source.seek(0)
        assert source.read_buffer().to_pybytes() == data


def test_a_file_of_another_size_is_told(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    file_io.write(f"{root}/a", b"12345")

    with pytest.raises(OSError, match="5"):
        file_io.sync_files({f"{root}/a": 6})
    with pytest.raises(CorruptMetadataError, match="more than"):
        file_io.read(f"{root}/a", limit_bytes=4)


def test_of_several_who_move_a_file_one_succeeds(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    for turn in range(times(2)):
        source = f"{root}/{turn}"
        file_io.write(source, b"{}")

        def moved(number: int, source: str = source) -> bool:
            try:
                file_io.rename(source, f"{source}.{number}")
            except FileNotFoundError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(moved, range(8)))
        assert won.count(True) == 1
        assert not file_io.exists(source)
        assert file_io.read(f"{source}.{won.index(True)}") == b"{}"
        assert len([n for n in file_io.list_names(root) if n.startswith(f"{turn}.")]) == 1


def test_files_are_not_moved_onto_others(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    file_io.write(f"{root}/a", b"a")
    file_io.write(f"{root}/b", b"b")

    with pytest.raises(FileExistsError):
        file_io.rename(f"{root}/a", f"{root}/b")

    assert (file_io.read(f"{root}/a"), file_io.read(f"{root}/b")) == (b"a", b"b")


def test_copies_work_in_other_processes(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    file_io.write(f"{root}/a", b"1")
    assert _read(pickle.dumps(file_io.within(root)), f"{root}/a") == b"1"
    if not root.startswith(("/", "s3:")):
        return  # the rest is the same code

    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_read, (pickle.dumps(file_io.within(root)), f"{root}/a")) == b"1"


def _read(store: bytes, path: str) -> bytes:
    data = pickle.loads(store).read(path)
    assert isinstance(data, bytes)
    return data


def test_a_read_only_store_changes_nothing(place: tuple[FileIO, str]) -> None:
    file_io, root = place
    file_io.write(f"{root}/a", b"1")

    assert ReadOnlyFileIO(file_io).within(root).read(f"{root}/a") == b"1"


def test_what_others_wrote_by_other_libraries_is_read(s3_server: str, bucket: str) -> None:
    other = pyarrow.fs.S3FileSystem(
        access_key="a", secret_key="b", endpoint_override=s3_server, region="us-east-1"
    )
    rows = pa.table({"a": range(100_000)})
    pq.write_table(rows, f"{bucket}/w/rows.parquet", filesystem=other)
    options = options_of(s3_server, bucket)
    store = stores.open_warehouse(options["warehouse"], options)

    with store.open_input(f"{store.root}/rows.parquet") as source:
        assert pq.read_table(source) == rows
    with store.open_output(f"{store.root}/ours.parquet") as target:
        pq.write_table(rows, target)
    assert pq.read_table(f"{bucket}/w/ours.parquet", filesystem=other) == rows


def test_a_folder_that_hadoop_marked_is_one(s3_server: str, bucket: str) -> None:
    other = pyarrow.fs.S3FileSystem(
        access_key="a", secret_key="b", endpoint_override=s3_server, region="us-east-1"
    )
    other.create_dir(f"{bucket}/w/db.db")  # an object whose key ends with a slash
    options = options_of(s3_server, bucket)
    store = stores.open_warehouse(options["warehouse"], options)

    assert store.exists(f"{store.root}/db.db")
    assert store.list_names(store.root) == ["db.db"]
    assert store.list(f"{store.root}/db.db") == []
    with pytest.raises(StorageError, match="a tool of the store"):
        store.delete_directory(f"{store.root}/db.db")


def test_a_forked_child_is_told_to_connect_itself(warehouse: dict[str, str]) -> None:
    store = stores.open_warehouse(warehouse["warehouse"], warehouse)
    store.write(f"{store.root}/a", b"1")
    context = multiprocessing.get_context("fork")
    said: multiprocessing.queues.SimpleQueue[str] = context.SimpleQueue()

    child = context.Process(target=_try_read, args=(store, f"{store.root}/a", said))
    child.start()
    child.join(60)

    assert child.exitcode == 0
    assert said.get().startswith("ForkedProcessError: the connection to an object store")


def _try_read(store: FileIO, path: str, said: multiprocessing.queues.SimpleQueue[str]) -> None:
    try:
        said.put(repr(store.read(path)))
    except Exception as error:  # noqa: BLE001 - what it is, the test says
        said.put(f"{type(error).__name__}: {error}")
