"""Cleaning a table in whose folder somebody has put links: what they lead to stays, so do they."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CorruptMetadataError, PaimonError, SchemaError
from paimonlab.metadata.manifest_cache import shared_cache
from paimonlab.storage import LocalFileIO
from paimonlab.table.table import Table
from tests.crash.harness import aged

_LATER = datetime(2100, 1, 1, tzinfo=UTC)
_SCHEMA = {"p": "STRING", "k": "INT", "v": "STRING"}


def _rows(*keys: int) -> pa.Table:
    count = len(keys)
    return pa.table({"p": ["a"] * count, "k": pa.array(keys, pa.int32()), "v": ["x"] * count})


def _table(catalog: pl.Catalog) -> Table:
    found = catalog.table("db.t")
    assert isinstance(found, Table)
    return found


def _abort(table: Table) -> None:
    writer = table.new_writer()
    writer.write(_rows(7))
    writer.abort()


VERBS: Mapping[str, Callable[[Table], object]] = {
    "purge": lambda table: table.maintenance.purge_files(),
    "remove orphans": lambda table: table.maintenance.remove_orphan_files(dry_run=False),
    "expire snapshots": lambda table: table.maintenance.expire_snapshots(retain_max=1),
    "roll back": lambda table: table.maintenance.rollback_to(snapshot=1),
    "drop partitions": lambda table: table.drop_partitions([{"p": "a"}]),
    "truncate": lambda table: table.truncate(),
    "overwrite": lambda table: table.overwrite(_rows(8)),
    "compact": lambda table: table.compact(full=True),
    "compact manifests": lambda table: table.compact_manifests(),
    "delete rows": lambda table: table.delete("k = 2"),
    "delete a tag": lambda table: table.tags.delete("old"),
    "replace a tag": lambda table: table.tags.replace("old"),
    "rename a tag": lambda table: table.tags.rename("old", "new"),
    "delete a branch": lambda table: table.branches.delete("dev"),
    "rename a branch": lambda table: table.branches.rename("dev", "new"),
    "fast-forward": lambda table: table.branches.fast_forward("dev"),
    "forget a consumer": lambda table: table.consumers.delete("c"),
    "expire consumers": lambda table: table.consumers.expire(_LATER),
    "abort": _abort,
}
_DELETING = (
    *("purge", "remove orphans", "expire snapshots", "roll back", "drop partitions"),
    *("delete a tag", "delete a branch", "forget a consumer", "expire consumers", "abort"),
)
"""All are tried where links are read, for there they get further."""
EACH_FILE = "each file"
LINKS = (
    *("manifest", "snapshot", "schema", "tag", "branch", "branch/branch-dev", "consumer"),
    *("changelog", "index", "statistics", "p=a", "p=a/bucket-0", "branch/branch-dev/snapshot"),
    EACH_FILE,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with a file of each kind, some of them junk."""
    warehouse = tmp_path_factory.mktemp("made")
    catalog = pl.connect(warehouse)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        _SCHEMA,
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"bucket": "1", "changelog-producer": "input", "deletion-vectors.enabled": "true"},
    )
    for number in range(3):
        table.write(_rows(1, 2, 3 + number))
    table.tags.create("old", snapshot=1)
    table.branches.create("dev", tag="old")
    table.on_branch("dev").write(_rows(9))
    table.consumers.reset("c", 3)
    table.maintenance.analyze()
    writer = table.new_writer()
    writer.write(_rows(6))
    writer.prepare_commit()  # nobody commits it
    folder = Path(table.path)
    for name in (f"index/index-{uuid.uuid4()}-0", f"changelog/.changelog-1.{uuid.uuid4()}.tmp"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"junk")
    aged(warehouse)
    return warehouse


@pytest.fixture
def linked(made: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Copy the table, and put what the link is to replace beside it: the victim."""

    def link(name: str) -> Path:
        warehouse = tmp_path / "warehouse"
        shutil.rmtree(warehouse, ignore_errors=True)
        shutil.copytree(made, warehouse, copy_function=os.link)
        folder, victim = warehouse / "db.db" / "t", warehouse / "db.db" / "victim"
        victim.mkdir()
        chosen = [folder / name]
        if name == EACH_FILE:
            chosen = [path for path in folder.rglob("*") if path.is_file()]
        for number, path in enumerate(chosen):
            target = victim / str(number)
            shutil.move(path, target)
            path.symlink_to(os.path.relpath(target, path.parent))
        return warehouse

    return link


def _seen(folder: Path) -> dict[str, bytes | str]:
    """All files and links below a folder."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("follow_links", [False, True])
@pytest.mark.parametrize("name", LINKS)
def test_what_links_lead_to_stays(
    linked: Callable[[str], Path], name: str, follow_links: bool
) -> None:
    for verb in VERBS if follow_links else _DELETING:
        warehouse = linked(name)
        folder = warehouse / "db.db"
        before, links = _seen(folder / "victim"), _links(folder / "t")
        assert before
        assert links
        error: Exception | None = None
        try:
            VERBS[verb](_table(_connect(warehouse, follow_links)))
        except (PaimonError, OSError) as raised:
            error = raised
        where = f"{verb}, {name}: {error!r}"
        assert _seen(folder / "victim") == before, where
        gone = links - _links(folder / "t")
        # A branch goes with all that is in its folder, links too, but not what they lead to. A
        # hint is written anew.
        allowed = ("/branch-dev/", "/LATEST", "/EARLIEST")
        assert not [link for link in gone if not any(one in link for one in allowed)], where


def _catalog(warehouse: Path) -> pl.Catalog:
    catalog = pl.connect(warehouse)
    catalog.create_database("db")
    catalog.create_table("db.t", _SCHEMA, partition_keys=["p"]).write(_rows(1, 2))
    return catalog


def _moved(path: Path, target: Path) -> None:
    """Put a link in the place of a file or folder."""
    target.parent.mkdir(exist_ok=True)
    shutil.move(path, target)
    path.symlink_to(target)


def _data_file(catalog: pl.Catalog) -> Path:
    (path,) = Path(_table(catalog).path).rglob("*.parquet")
    return path


@pytest.mark.parametrize("part", ["file", "bucket", "partition"])
def test_a_link_that_leads_out_is_not_read(tmp_path: Path, part: str) -> None:
    catalog = _catalog(tmp_path / "w")
    path = _data_file(catalog)
    link = {"file": path, "bucket": path.parent, "partition": path.parent.parent}[part]
    _moved(link, tmp_path / "outside" / link.name)

    with pytest.raises(CorruptMetadataError, match="follow_links=True") as caught:
        _table(catalog).scan().to_arrow()
    assert str(caught.value.path) == str(path)
    assert str(link) in str(caught.value)
    findings = _table(catalog).fsck().findings
    assert any("a link that leads out of" in one.problem for one in findings)

    for trusting in (
        pl.connect(tmp_path / "w", follow_links=True),
        pl.connect({"warehouse": str(tmp_path / "w"), "follow-links": "true"}),
        pl.connect({"warehouse": str(tmp_path / "w"), "read-only": "true"}, follow_links=True),
    ):
        assert _table(trusting).scan().to_arrow()["k"].to_pylist() == [1, 2]
        assert not _table(trusting).fsck().findings


def test_a_link_to_a_file_of_the_same_table_is_read(tmp_path: Path) -> None:
    catalog = _catalog(tmp_path / "w")
    path = _data_file(catalog)
    _moved(path, path.parent / "moved")

    assert _table(catalog).scan().to_arrow()["k"].to_pylist() == [1, 2]


@pytest.mark.parametrize("name", ["schema", "snapshot", "manifest", "schema/schema-0"])
def test_metadata_behind_a_link_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    catalog = _catalog(tmp_path / "w")
    path = Path(_table(catalog).path) / name
    _moved(path, tmp_path / "outside" / path.name)
    shared_cache.clear()

    with pytest.raises(CorruptMetadataError, match="a link that leads out of"):
        _table(catalog).scan().to_arrow()
    catalog.drop_table("db.t")
    assert not catalog.has_table("db.t")
    assert (tmp_path / "outside" / path.name).exists()


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    catalog = _catalog(tmp_path / "w")
    folder = _data_file(catalog).parent
    _moved(folder, tmp_path / "outside" / folder.name)
    before = _seen(tmp_path)

    with pytest.raises(CorruptMetadataError, match="nothing is written or deleted through it"):
        _table(pl.connect(tmp_path / "w", follow_links=True)).write(_rows(3))

    assert _seen(tmp_path) == before


@pytest.mark.parametrize("part", ["w", "w/db.db", "w/db.db/t"])
def test_a_table_may_be_reached_through_links(tmp_path: Path, part: str) -> None:
    _catalog(tmp_path / "w")
    _moved(tmp_path / part, tmp_path / "outside" / "moved")
    table = _table(pl.connect(tmp_path / "w"))

    table.write(_rows(3))
    table.delete("k = 1")
    table.compact(full=True)
    table.maintenance.expire_snapshots(retain_max=1)
    table.maintenance.remove_orphan_files(dry_run=False)

    assert sorted(table.scan().to_arrow()["k"].to_pylist()) == [2, 3]
    assert not table.fsck(deep=True).findings
    assert len(list(Path(table.path, "snapshot").glob("snapshot-*"))) == 1


def test_no_option_of_a_table_lets_links_be_followed(tmp_path: Path) -> None:
    catalog = _catalog(tmp_path / "w")

    with pytest.raises(SchemaError, match="follow-links"):
        catalog.alter_table("db.t", pl.SetOption("follow-links", "true"))


def test_a_folder_that_is_swapped_for_a_link_meanwhile_is_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check and the deletion there is a moment; the folder is held meanwhile."""
    folder, victim = tmp_path / "t" / "manifest", tmp_path / "victim"
    folder.mkdir(parents=True)
    victim.mkdir()
    for one in (folder, victim):
        (one / "m").write_bytes(b"x")
    unlink = os.unlink

    def swapped(*given: Any, **how: Any) -> None:
        folder.rename(tmp_path / "gone")
        folder.symlink_to(victim)
        unlink(*given, **how)

    monkeypatch.setattr(os, "unlink", swapped)
    LocalFileIO().within(str(tmp_path / "t")).delete(str(folder / "m"))

    assert (victim / "m").exists()
    assert not (tmp_path / "gone" / "m").exists()


def _connect(warehouse: Path, follow_links: bool) -> pl.Catalog:
    return pl.connect(warehouse, follow_links=True) if follow_links else pl.connect(warehouse)


def _links(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*") if path.is_symlink()}
