"""HDFS without HDFS: which options reach it, and what becomes of answers that are lost.

What the store promises runs against a real one: ``pytest tests/storage/stores -k hdfs``.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass, field
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.errors import StorageError, UnsupportedError
from paimonlab.storage.hdfs import HdfsFileIO, file_io
from paimonlab.storage.hdfs.options import HdfsOptions, hdfs_options

ROOT = "hdfs://127.0.0.1:8020/w"


@dataclass
class NameNode:
    """Files by path; moving one may go wrong before or after it happened."""

    files: dict[str, bytes] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    moved: int = 0

    def create(self, path: str, options: Any) -> Any:
        if path in self.files and not options.overwrite:
            raise FileExistsError(f"{path} for client already exists\n\tat org.apache")
        self.files[path] = b""

        def write(data: bytes) -> None:
            self.files[path] += data

        return types.SimpleNamespace(write=write, hsync=lambda: None, close=lambda: None)

    def rename(self, source: str, target: str, overwrite: bool) -> None:
        self.moved += 1
        fault = self.faults.pop(0) if self.faults else ""
        if fault == "before":
            raise OSError("Connection reset by peer password=zqhush")
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
    library = types.SimpleNamespace(WriteOptions=types.SimpleNamespace)
    monkeypatch.setitem(sys.modules, "hdfs_native", library)
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
