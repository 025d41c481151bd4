"""Format tables in a bucket and on a disk, of processes that write at once and that are killed.

``PAIMONLAB_KILL_POINTS`` says at how many requests an overwrite in a bucket is killed, and at how
many calls one of two is stopped.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from paimonlab.errors import StorageError
from paimonlab.table.format_tables.format_table import FormatTable
from paimonlab.table.format_tables.writing import StagedFile, publish
from tests.outside.processes import ROOT
from tests.storage.stores import format_writer
from tests.storage.stores.conftest import options_of
from tests.storage.stores.format_writer import ROWS, opened, rows
from tests.storage.stores.proxy import Fault, Proxy

KILLS = int(os.environ.get("PAIMONLAB_KILL_POINTS", "1"))
STOPS = int(os.environ.get("PAIMONLAB_KILL_POINTS", "3"))
_CALLS = 14
"""More than an overwrite has calls at which it may stop."""
_CHANGES = ("PUT", "POST", "DELETE")
_SECONDS = 120


def began(options: Mapping[str, str], number: int, work: str, turns: int) -> subprocess.Popen[str]:
    """Start a writer, which waits."""
    arguments = [json.dumps(dict(options)), str(number), work, str(turns)]
    return subprocess.Popen(
        [sys.executable, format_writer.__file__, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def let_go(writer: subprocess.Popen[str]) -> None:
    """Let a writer begin once it is ready."""
    assert writer.stdout is not None
    assert writer.stdin is not None
    assert writer.stdout.readline() == "ready\n", writer.communicate()
    writer.stdin.write("go\n")
    writer.stdin.flush()


def ended(writer: subprocess.Popen[str]) -> int:
    """Wait for a writer; return its code."""
    _, said = writer.communicate(timeout=_SECONDS)
    assert writer.returncode in (0, -signal.SIGKILL), said
    return writer.returncode


def seen(table: FormatTable) -> Counter[tuple[int, str]]:
    """Count the rows."""
    found = table.scan(["id", "v"]).to_arrow().to_pydict()
    return Counter(zip(found["id"], found["v"], strict=True))


def counted(*ids: range, value: str) -> Counter[tuple[int, str]]:
    """Count rows as they should be."""
    return Counter((number, value) for part in ids for number in part)


@pytest.fixture(params=["local", "s3"])
def options(request: pytest.FixtureRequest, tmp_path: Path) -> Mapping[str, str]:
    """Options of a warehouse."""
    if request.param == "local":
        return {"warehouse": str(tmp_path)}
    found: Mapping[str, str] = request.getfixturevalue("warehouse")
    return found


def test_rows_are_written_read_and_replaced(options: Mapping[str, str]) -> None:
    table = opened(options)
    table.write(rows(0, "x"))
    table.write(rows(10, "y"))
    table.overwrite(rows(20, "z", "a"), partition={"p": "a"})

    left = [(number, "xy"[number // 10]) for number in range(1, 20, 2)]
    assert seen(opened(options)) == Counter(left) + counted(range(20, 30), value="z")
    assert table.partitions()["p"].to_pylist() == ["a", "b"]
    assert table.scan(where="p = 'b' AND id > 15").to_arrow()["id"].to_pylist() == [17, 19]
    table.truncate()
    assert not seen(opened(options))


def test_what_killed_writers_left_is_found_and_deleted(
    options: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = opened(options)
    table.write(rows(0, "x"))
    killed, waiting = ([*written(table, value)] for value in ("killed", "waiting"))
    monkeypatch.setattr("paimonlab.maintenance.orphans._PAST", timedelta(minutes=-1))
    soon: Any = {"older_than": timedelta(seconds=-30)}  # as if these files were old

    assert table.remove_orphan_files().paths == ()
    with pytest.raises(ValueError, match="force=True"):
        table.remove_orphan_files(dry_run=False, **soon)
    with table._replacement(waiting).turn() as turn:
        found = table.remove_orphan_files(dry_run=False, force=True, **soon)
        publish(table._file_io, waiting, table.path)
        turn.end()

    assert found.paths == tuple(sorted(one.hidden for one in killed))
    gone = "|".join(one.hidden.rpartition("/")[2] for one in killed)
    with pytest.raises(OSError, match=gone):
        table.publish(killed)  # it was not killed after all
    shown = [range(ROWS)] * 2
    assert seen(table) == counted(shown[0], value="x") + counted(shown[1], value="waiting")
    assert table.remove_orphan_files(**soon).paths == ()


def test_files_are_shown_several_at_a_time() -> None:
    """Each waits until another one is shown too: one after the other they would wait for ever."""
    together = threading.Barrier(2)

    class Files:
        def rename(self, source: str, target: str) -> None:
            assert (source, target) in {("a.tmp", "a"), ("b.tmp", "b")}
            together.wait(60)

    staged = [StagedFile(f"{name}.tmp", name, "", 1, 1) for name in "ab"]
    publish(Files(), staged, "")  # type: ignore[arg-type]


def written(table: FormatTable, value: str) -> Sequence[StagedFile]:
    """Write rows that nobody sees yet."""
    with table.writer() as writer:
        for batch in rows(0, value).to_batches():
            writer.write(batch)
        return writer.staged()


def test_a_process_that_appends_loses_no_row_beside_one_that_overwrites(
    warehouse: Mapping[str, str],
) -> None:
    options = warehouse
    turns = 4
    works = [(1, "append"), (3, "overwrite")]
    writers = [began(options, number, work, turns) for number, work in works]
    for writer in writers:
        let_go(writer)
    assert [ended(writer) for writer in writers] == [0, 0]

    found = seen(opened(options))
    appended = range(1_000_000, 1_000_000 + turns * ROWS)
    assert set(found.values()) == {1}, "no row is there twice"
    assert {(number, "append") for number in appended if number % 2} <= found.keys()
    last = 3_000_000 + (turns - 1) * ROWS
    own = {number for number, value in found if value == "overwrite"}
    assert own == set(range(last, last + ROWS))


@dataclass
class Replacer:
    """A process that replaces the table when it is asked."""

    number: int
    process: subprocess.Popen[str]
    count: int = 0
    rows: Counter[tuple[int, str]] = field(default_factory=Counter)
    """What it wrote last."""

    def begin(self, stop: int | None = None, patience: float = 0.2) -> None:
        """Begin, and stop at a call of the store; who stands still for so long is overtaken."""
        self.count += 1
        value = f"{self.number}-{self.count}"
        partitions = "ab" if self.number == 1 else "bc"
        asked = {"stop": stop, "patience": patience, "value": value, "partitions": partitions}
        first = self.number * 1_000_000
        self.rows = counted(range(first, first + ROWS), value=value)
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        """Return what it says next."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()


def test_of_two_processes_that_overwrite_the_rows_of_one_are_left(
    options: Mapping[str, str], seed: int
) -> None:
    chance = random.Random(seed)
    made = opened(options)
    with ExitStack() as stack:
        both = [Replacer(n, began(options, n, "replace", 0)) for n in (1, 2)]
        for one in both:
            stack.callback(one.process.communicate)
            stack.callback(one.process.kill)
        assert [one.answer() for one in both] == ["ready", "ready"]
        for _ in range(2):
            for one in both:
                one.begin(patience=60)
            assert [one.answer() for one in both] == ["done", "done"]
            assert seen(made) in [one.rows for one in both]
        for stop in chance.sample(range(_CALLS), min(STOPS, _CALLS)):
            slow, other = chance.sample(both, 2)
            slow.begin(stop)
            said = slow.answer()
            other.begin()
            assert other.answer() == "done", stop
            if said == "stopped":
                left = seen(made)
                assert left == other.rows, stop
                slow.process.send_signal(signal.SIGCONT)
                said = slow.answer()
            assert said in ("done", "refused"), stop
            wanted = [other.rows] if said == "refused" else [slow.rows, other.rows]
            assert seen(made) in wanted, stop


def test_an_overwrite_in_a_bucket_that_is_killed_loses_no_row(
    s3_server: str, bucket: str, proxy: Proxy, seed: int
) -> None:
    chance = random.Random(seed)
    straight, through = options_of(s3_server, bucket), options_of(proxy.url, bucket)
    made = opened(straight)

    def begin() -> Counter[tuple[int, str]]:
        made.overwrite(rows(0, "old"), dynamic=False)
        made.write(rows(10, "old", "a"))
        return seen(made)

    had = begin()
    proxy.asked.clear()
    assert run_killed(through, proxy, None, chance) == 0
    changes = sum(proxy.asked[method] for method in _CHANGES)
    wanted = seen(made)
    assert wanted != had
    points = range(changes) if changes <= KILLS else chance.sample(range(changes), KILLS)
    for at in points:
        begin()
        assert run_killed(through, proxy, at, chance) == -signal.SIGKILL
        left = seen(made)
        assert had <= left or wanted <= left, at
        assert left <= had + wanted, at
        assert run_killed(through, proxy, None, chance) == 0
        assert seen(made) == wanted, at


def run_killed(
    options: Mapping[str, str], proxy: Proxy, at: int | None, chance: random.Random
) -> int:
    """Run a writer that replaces a partition, killed at one of its changes; return how it ended."""
    writer = began(options, 3, "overwrite", 1)
    count = 0

    def choose(method: str, _: str, __: bool) -> Fault | None:
        nonlocal count
        if method not in _CHANGES:
            return None
        count += 1
        if at is None or count - 1 != at:
            return None
        writer.kill()
        return chance.choice((None, "reset before"))

    proxy.choose = choose
    try:
        let_go(writer)
        return ended(writer)
    finally:
        writer.kill()
        writer.wait()
        proxy.choose = lambda *_: None


def test_a_write_whose_last_answer_is_lost_leaves_no_row_if_it_says_that_it_failed(
    s3_server: str, bucket: str, proxy: Proxy
) -> None:
    straight = opened(options_of(s3_server, bucket))
    retries = {"s3.attempts.maximum": "0"}
    table = opened({**options_of(proxy.url, bucket), **retries})
    table.write(rows(0, "old"))
    had = seen(straight)
    deleted = 0

    def choose(method: str, target: str, _: bool) -> Fault | None:
        nonlocal deleted
        # Files are moved by a copy and a delete, of which the second does not happen.
        is_delete = method == "POST" and target.endswith("?delete")
        deleted += is_delete
        return "503 before" if is_delete and deleted == 2 else None

    proxy.choose = choose
    with pytest.raises(StorageError):
        table.write(rows(10, "new"))
    assert seen(straight) == had
