from __future__ import annotations

import inspect
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import CorruptDataError, ReadOnlyError
from paimonlab.procedures import PROCEDURES
from paimonlab.storage import FileIO, LocalFileIO, ReadOnlyFileIO
from paimonlab.table.table import Table

READING = {
    "begin_sync",
    "check_files",
    "exists",
    "has_file",
    "list",
    "list_names",
    "open_input",
    "read",
    "size_bytes",
    "within",
}
METHODS = [name for name in vars(FileIO) if not name.startswith("_")]


def stored(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", sorted(set(METHODS) - READING))
def test_every_method_that_changes_something_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").write_bytes(b"1")
    store = ReadOnlyFileIO(LocalFileIO())
    method = getattr(store, name)
    given: list[Any] = {"sync_files": [{str(tmp_path / "a"): 1}]}.get(name, [str(tmp_path / "a")])
    given += [str(tmp_path / "b")] if name == "rename" else []
    given += [b"2"] if "data" in inspect.signature(method).parameters else []

    with pytest.raises(ReadOnlyError, match="the catalog is read-only"):
        method(*given)

    assert stored(tmp_path) == {str(tmp_path / "a"): b"1"}


def test_the_rest_is_what_the_store_says(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    path, local = str(tmp_path / "a"), LocalFileIO()
    store = pickle.loads(pickle.dumps(ReadOnlyFileIO(local)))

    assert store.read(path) == b"1"
    assert store.open_input(path).read() == b"1"
    assert store.exists(path)
    assert store.size_bytes(path) == 1
    (tmp_path / "folder").mkdir()
    with pytest.raises(CorruptDataError, match="it is a folder"):
        store.check_files(str(tmp_path), {"a", "folder"})
    (tmp_path / "folder").rmdir()
    assert store.list(str(tmp_path)) == local.list(str(tmp_path))
    assert store.list_names(str(tmp_path)) == ["a"]
    with pytest.raises(ReadOnlyError):
        store.within(str(tmp_path)).delete(path)


def test_a_catalog_can_be_opened_to_read_only(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t", {"k": "INT NOT NULL"}, primary_keys=["k"], options={"bucket": "1"}
    )
    rows = pa.table({"k": pa.array([1], pa.int32())})
    table.write(rows)
    before = stored(tmp_path)

    closed = paimonlab.connect({"warehouse": str(tmp_path), "read-only": "true"})
    same = closed.table("db.t")
    assert isinstance(same, Table)

    assert closed.is_read_only
    assert not catalog.is_read_only
    assert same.scan().to_arrow().equals(rows.cast(table.arrow_schema))
    for change in (
        lambda: closed.create_database("x"),
        lambda: closed.drop_table("db.t"),
        lambda: closed.alter_table("db.t", paimonlab.SetOption("bucket", "1")),
        lambda: same.write(rows),
        lambda: same.delete("k = 1"),
        same.truncate,
        lambda: same.compact(full=True),
        lambda: same.tags.create("x"),
        lambda: same.maintenance.rollback_to(snapshot=1),
    ):
        with suppress(ReadOnlyError):  # or nothing was to be done
            change()
        assert stored(tmp_path) == before
    for procedure in PROCEDURES.values():
        with pytest.raises(ReadOnlyError, match=f"CALL sys.{procedure.name}"):
            procedure.call(closed, {})


def test_read_only_is_true_or_false(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="neither true nor false"):
        paimonlab.connect({"warehouse": str(tmp_path), "read-only": "yes"})
