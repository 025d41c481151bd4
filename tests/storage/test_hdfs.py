"""HDFS without HDFS: which options reach it, and what becomes of answers that are lost.

What the store promises runs against a real one: ``pytest tests/storage/stores -k hdfs``.
"""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.fs
import pytest

import paimonlab as pl
from paimonlab.errors import StorageError, UnsupportedError
from paimonlab.storage.hdfs import HdfsFileIO, file_io, open_warehouse
from paimonlab.storage.hdfs.options import HdfsOptions, hdfs_options

ROOT = "hdfs://127.0.0.1:8020/w"


@dataclass
class NameNode:
    """Files by path; moving one may go wrong before or after it happened."""

    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    moved: int = 0

    creates_at_once: bool = True

    def create(self, path: str) -> Any:
        if path in self.files:
            raise FileExistsError(f"{path} for client already exists\n\tat org.apache")
        self.files[path] = b""

        def write(data: bytes) -> None:
            self.files[path] += data

        nothing = dict.fromkeys(("hsync", "close", "abandon"), lambda: None)
        return types.SimpleNamespace(write=write, **nothing)

    def rename(self, source: str, target: str, overwrite: bool) -> None:
        self.moved += 1
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "before":
            raise OSError("Connection reset by peer password=zqhush")
        if fault == "dropped":
            self.files.clear()
        if source not in self.files:
            raise FileNotFoundError(source)
        if target in self.files and not overwrite:
            raise FileExistsError(target)
        self.files[target] = self.files.pop(source)
        if fault == "after":
            raise OSError("Connection reset by peer")
        if fault == "asked again":
            raise FileExistsError(target)  # the client's second request meets its first

    def get_file_info(self, path: str) -> Any:
        if path not in self.files:
            raise FileNotFoundError(path)
        return types.SimpleNamespace(length=len(self.files[path]))

    def delete(self, path: str, recursive: bool) -> bool:
        del recursive
        return self.files.pop(path, None) is not None


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> NameNode:
    """A name node in memory."""
    node = NameNode()
    monkeypatch.setattr(file_io, "_connected", lambda *_: node)
    return node


@pytest.mark.parametrize(
    "faults", [[], ["before"], ["after"], ["asked again"], ["before", "after"]]
)
def test_a_lost_answer_to_publishing_is_found_out(node: NameNode, faults: list[str]) -> None:
    store = HdfsFileIO(ROOT)
    node.faults = list(faults)

    assert store.publish(f"{ROOT}/snapshot-1", b"1")
    assert not store.publish(f"{ROOT}/snapshot-1", b"1"), "equal bytes of another call"

    assert node.files == {"/w/snapshot-1": b"1"}, "nothing else is left"


@pytest.mark.parametrize("faults", [["before"], ["before", "before"]])
def test_a_lost_answer_never_makes_the_file_of_another_ours(
    node: NameNode, faults: list[str]
) -> None:
    node.files["/w/snapshot-1"] = b"theirs"
    node.faults = list(faults)

    assert not HdfsFileIO(ROOT).publish(f"{ROOT}/snapshot-1", b"ours")
    assert node.files == {"/w/snapshot-1": b"theirs"}


def test_answers_that_stay_away_leave_the_outcome_open(
    node: NameNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_io, "_PATIENCE_SECONDS", 0.1)
    node.faults = ["before"] * 99

    with pytest.raises(StorageError, match=r"snapshot-1.*may be there or not \(\d+ att") as raised:
        HdfsFileIO(ROOT).publish(f"{ROOT}/snapshot-1", b"1")
    assert "zqhush" not in str(raised.value)


def test_a_file_that_was_deleted_before_it_was_moved_is_not_said_to_be_there(
    node: NameNode,
) -> None:
    node.faults = ["dropped", "dropped"]

    with pytest.raises(StorageError, match=r"snapshot-1: .*was deleted, as by dropping"):
        HdfsFileIO(ROOT).publish(f"{ROOT}/snapshot-1", b"1")
    with pytest.raises(FileNotFoundError):
        HdfsFileIO(ROOT).replace(f"{ROOT}/LATEST", b"1")


def test_options_are_hadoops_with_a_prefix() -> None:
    assert hdfs_options(
        {
            "hadoop.dfs.client.use.datanode.hostname": "true",
            "hadoop-conf-dir": "/etc/hadoop",
            "security.kerberos.login.principal": "me@REALM",
            "security.kerberos.login.keytab": "/me.keytab",
        }
    ) == HdfsOptions(
        (("dfs.client.use.datanode.hostname", "true"),), "/etc/hadoop", "me@REALM", "/me.keytab"
    )
    with pytest.raises(ValueError, match="is missing"):
        hdfs_options({"security.kerberos.login.principal": "me@REALM"})
    with pytest.raises(UnsupportedError, match=r"login\.contexts"):
        hdfs_options({"security.kerberos.login.contexts": "Client"})


def test_without_its_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(UnsupportedError, match=r"pip install 'paimonlab\[hdfs\]'"):
        pl.connect("hdfs://127.0.0.1:8020/w")


def test_libhdfs_stands_in_for_reading_where_hdfs_native_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    warehouse = "hdfs://127.0.0.1:8020/w"
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    (tmp_path / "libhdfs.so").touch()
    for name, value, told in (
        ("ARROW_LIBHDFS_DIR", tmp_path, "JAVA_HOME is not set"),
        ("JAVA_HOME", tmp_path, "CLASSPATH is not set: export"),
    ):
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.delenv("CLASSPATH", raising=False)
        monkeypatch.setenv(name, str(value))
        with pytest.raises(UnsupportedError, match=rf"hdfs\]'; libhdfs cannot stand in: {told}"):
            pl.connect(warehouse)
    monkeypatch.setenv("CLASSPATH", "x.jar")
    with pytest.raises(UnsupportedError, match=r"pip install 'paimonlab\[hdfs\]'"):
        pl.connect({"warehouse": warehouse, "hdfs.client": "hdfs-native"})
    login = {"principal": "me", "keytab": "/k"}
    kerberos = {f"security.kerberos.login.{key}": value for key, value in login.items()}
    with pytest.raises(UnsupportedError, match=r"principal with hdfs\.client = 'libhdfs'"):
        pl.connect({"warehouse": warehouse, **kerberos})

    local = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    hosts: list[str] = []

    def connected(host: str, *_: object, **__: object) -> pyarrow.fs.FileSystem:
        hosts.append(host)
        return local

    monkeypatch.setattr(pyarrow.fs, "HadoopFileSystem", connected)
    open_warehouse("hdfs://MyService/w", {}).exists("hdfs://MyService/w/a")
    assert hosts == ["hdfs://MyService"], "names of services are told apart by upper case"
    store = open_warehouse(warehouse, {})
    (tmp_path / "w").mkdir()
    (tmp_path / "w/a").write_bytes(b"12345")

    assert store.client_told.startswith("libhdfs, as hdfs-native is not installed")
    assert store.read(f"{warehouse}/a") == b"12345"
    assert [one.path for one in store.list(warehouse)] == [f"{warehouse}/a"]
    with store.open_input(f"{warehouse}/a") as source:
        source.seek(2)
        assert source.read(2) == b"34"
    for write in (
        lambda: store.publish(f"{warehouse}/b", b"1"),
        lambda: store.replace(f"{warehouse}/a", b"1"),
        lambda: store.make_directory(f"{warehouse}/b"),
        lambda: store.rename(f"{warehouse}/a", f"{warehouse}/b"),
        lambda: store.delete(f"{warehouse}/a"),
    ):
        with pytest.raises(UnsupportedError, match=r"writing to hdfs://\S+ through libhdfs"):
            write()
    assert [path.name for path in (tmp_path / "w").iterdir()] == ["a"]


def test_another_client_of_hdfs_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"hdfs\.client = 'java'.*hdfs-native, libhdfs"):
        pl.connect({"warehouse": "hdfs://127.0.0.1:8020/w", "hdfs.client": "java"})
