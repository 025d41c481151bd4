"""Files that wait in memory until they are sent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paimonlab.storage import LocalFileIO, held_files
from paimonlab.storage.held_files import HeldFileIO


@pytest.fixture
def held() -> HeldFileIO:
    return HeldFileIO(LocalFileIO())


def test_what_is_held_is_read_and_is_in_the_store_once_it_is_sent(
    held: HeldFileIO, tmp_path: Path
) -> None:
    one, two, gone = (str(tmp_path / "f" / name) for name in ("one", "two", "gone"))
    with held.open_output(one) as output:
        output.write(b"a" * 10)
        assert output.tell() == 10
        output.write(b"b")
    held.create(two, b"c")
    held.write(gone, b"d")
    held.delete(gone)
    held.sync_files({one: 11, two: 1})
    with held.open_input(one, size_bytes=11) as opened:
        assert (held.read(one), opened.read_at(2, 9)) == (b"a" * 10 + b"b", b"ab")
    assert (held.size_bytes(two), held.has_file(two), held.has_file(gone)) == (1, True, False)
    assert not (tmp_path / "f").exists()

    assert held.send()
    assert held.send()
    found = {path.name: path.read_bytes() for path in (tmp_path / "f").iterdir()}
    assert found == {"one": b"a" * 10 + b"b", "two": b"c"}
    held.create(two, b"e")
    with pytest.raises(FileExistsError):
        held.send()


def test_what_has_no_room_is_written_at_once(
    held: HeldFileIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_files, "_MOST_BYTES", 100)
    monkeypatch.setattr(held_files, "_LARGEST_BYTES", 80)
    for name, size in (("large", 80), ("a", 60), ("b", 60), ("c", 40)):
        with held.open_output(str(tmp_path / name)) as output:
            for _ in range(size // 20):
                output.write(b"x" * 20)
    assert {path.name for path in tmp_path.iterdir()} == {"large", "b"}
    held.send()
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes == {"large": 80, "a": 60, "b": 60, "c": 40}


def test_a_forked_child_that_drops_a_file_writes_nothing(
    held: HeldFileIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_files, "_MOST_BYTES", 100)
    path = tmp_path / "one"
    output = held.open_output(str(path))
    output.write(b"x" * 50)
    held.create(str(tmp_path / "other"), b"y" * 60)  # leaves no room for the first

    child = os.fork()
    if not child:
        output.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not path.exists()

    output.close()
    assert path.read_bytes() == b"x" * 50
