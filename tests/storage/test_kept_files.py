"""Files that can be made again are bounded, private, and never in the way."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paimonlab.storage import kept_files
from paimonlab.storage.kept_files import KeptFiles

HOUR = 3600


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def kept(folder: Path, *, retention_seconds: float = HOUR, limit: int | None = None) -> KeptFiles:
    return KeptFiles(str(folder), retention_seconds=retention_seconds, limit_bytes=limit)


def add(files: KeptFiles, group: str, name: str, size: int = 10) -> str | None:
    return files.add(group, name, lambda path: void(Path(path).write_bytes(bytes(size))))


def void(_: object) -> None:
    return None


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def make_older(path: str | None, seconds: float) -> None:
    assert path is not None
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_what_was_added_is_found(folder: Path) -> None:
    files = kept(folder)

    assert files.find("g", "a") is None
    path = add(files, "g", "a")

    assert path == files.find("g", "a") == str(folder / "g" / "a")


def test_the_folders_are_for_this_user_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        add(kept(folder), "g", "a")
    finally:
        os.umask(before)

    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "g").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("kind", ["link", "open to the group", "file", "below a file"])
def test_a_folder_that_others_may_have_made_is_not_used(
    kind: str, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    if kind == "link":
        folder.symlink_to(target)
    elif kind == "open to the group":
        folder.mkdir()
        folder.chmod(0o770)
    else:
        folder.write_text("x")
        folder = folder / "deep" if kind == "below a file" else folder

    files = kept(folder)
    with caplog.at_level(logging.WARNING):
        assert add(files, "g", "a") is None
        assert add(files, "g", "b") is None
        assert files.find("g", "a") is None

    assert names(target) == set()
    assert len(caplog.records) == 1
    assert str(folder) in caplog.text


def test_what_fails_while_it_is_written_leaves_nothing(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def write(path: str) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with caplog.at_level(logging.WARNING):
        assert kept(folder).add("g", "a", write) is None

    assert names(folder) == set()
    assert "No space left" in caplog.text


def test_after_a_failure_nothing_is_tried_for_a_while(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def write(path: str) -> None:
        calls.append(path)
        raise OSError(28, "No space left on device")

    for _ in range(3):
        kept(folder).add("g", "a", write)
    assert len(calls) == 1

    monkeypatch.setattr(kept_files, "_RETRY_SECONDS", 0)
    assert add(kept(folder), "g", "a")


def test_other_errors_pass_and_leave_nothing(folder: Path) -> None:
    def write(path: str) -> None:
        Path(path).write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept(folder).add("g", "a", write)

    assert names(folder) == set()


def test_what_is_not_used_is_deleted(folder: Path) -> None:
    files = kept(folder)
    make_older(add(files, "g", "old"), 2 * HOUR)
    make_older(add(files, "g", "used"), 2 * HOUR)
    assert files.find("g", "used")

    add(files, "other", "new")

    assert names(folder) == {"used", "new"}


def test_what_was_used_last_stays_within_the_limit(folder: Path) -> None:
    files = kept(folder, limit=25)
    make_older(add(files, "g", "a"), 30)
    make_older(add(files, "h", "b"), 20)
    assert files.find("g", "a")

    add(files, "g", "c")

    assert names(folder) == {"a", "c"}


def test_what_alone_is_larger_than_the_limit_is_not_kept(folder: Path) -> None:
    files = kept(folder, limit=25)
    add(files, "g", "a")

    assert add(files, "g", "large", size=26) is None

    assert names(folder) == {"a"}
    assert add(files, "g", "b")


def test_little_room_is_left_to_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "_LEAST_FREE", 1.1)

    assert add(kept(folder), "g", "a") is None

    assert names(folder) == set()


def test_drafts_of_dead_processes_are_deleted(folder: Path) -> None:
    add(kept(folder), "g", "a")
    for name, age in (("old.draft", 2 * HOUR), ("young.draft", 60)):
        path = folder / "g" / name
        path.write_bytes(b"half")
        make_older(str(path), age)

    add(kept(folder), "g", "b")

    assert names(folder) == {"a", "b", "young.draft"}


def test_only_the_wanted_of_a_group_stay(folder: Path) -> None:
    files = kept(folder)
    for group, name in (("g", "a"), ("g", "b"), ("h", "b")):
        add(files, group, name)

    files.keep_only("g", lambda name: name == "a")

    assert {str(path.relative_to(folder)) for path in folder.rglob("?") if path.is_file()} == {
        "g/a",
        "h/b",
    }


def test_two_processes_may_add_the_same_file(folder: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from paimonlab.storage.kept_files import KeptFiles\n"
        "files = KeptFiles(sys.argv[1], retention_seconds=3600)\n"
        "for number in range(100):\n"
        "    write = lambda path: Path(path).write_bytes(sys.argv[2].encode() * 50_000)\n"
        "    assert files.add('g', 'a', write)\n"
        "    assert len(set(Path(files.find('g', 'a')).read_bytes())) == 1\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(folder), letter]) for letter in "xy"
    ]

    assert [process.wait() for process in processes] == [0, 0]

    assert (folder / "g" / "a").stat().st_size == 50_000
    assert names(folder) == {"a"}


def test_a_process_that_is_killed_leaves_what_is_deleted_later(folder: Path) -> None:
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from paimonlab.storage.kept_files import KeptFiles\n"
        "def write(path):\n"
        "    Path(path).write_bytes(b'half')\n"
        "    print('now', flush=True)\n"
        "    time.sleep(60)\n"
        "KeptFiles(sys.argv[1], retention_seconds=3600).add('g', 'a', write)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        process.kill()

    (draft,) = names(folder)
    assert kept(folder).find("g", "a") is None
    make_older(str(folder / "g" / draft), 2 * HOUR)
    add(kept(folder), "g", "a")
    assert names(folder) == {"a"}
