"""Writers, keepers and a follower who are killed, stopped and started again, for a while.

PAIMONLAB_SOAK_SECONDS says how long in all (`make soak`: eighteen minutes); the seed decides who is
struck when.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import paimonlab as pl
from tests.outside.processes import start
from tests.outside.soak_actor import CONSUMER, STOP, STOP_FOLLOWING, followed_of, ledger_of

SECONDS = float(os.environ.get("PAIMONLAB_SOAK_SECONDS", "6"))
LEAST_STRIKES = 4
WRITERS = 2
_FOLLOWER = ("follower", 0)
_KEEPERS = [("keeper", 0)]
_ROLES = [*(("writer", number) for number in range(WRITERS)), *_KEEPERS, _FOLLOWER]
_SECONDS_TO_END = _SECONDS_TO_WORK = 120


@dataclass
class Crew:
    """The actors at work."""

    folder: Path
    random: random.Random
    seed: int
    processes: dict[tuple[str, int], subprocess.Popen[str]] = field(default_factory=dict)
    kills: int = 0
    stops: int = 0

    def employ(self, role: tuple[str, int]) -> None:
        """Start an actor."""
        name, number = role
        arguments = ["-m", "tests.outside.soak_actor", str(self.folder), name, str(number)]
        self.processes[role] = start([*arguments, str(self.seed)])

    def strike(self) -> None:
        """Kill an actor and start another in its place, or stop one for a while."""
        role = self.random.choice(_ROLES)
        process = self.processes[role]
        if self.random.random() < 0.4:
            process.kill()
            process.communicate()
            self.employ(role)
            self.kills += 1
        else:
            process.send_signal(signal.SIGSTOP)
            time.sleep(self.random.uniform(0.1, 1.5))
            process.send_signal(signal.SIGCONT)
            self.stops += 1

    @property
    def strikes(self) -> int:
        """How often somebody was struck."""
        return self.kills + self.stops

    def wait_for_work(self) -> None:
        """Wait until every writer has committed and the follower has followed."""
        paths = [followed_of(self.folder), *(ledger_of(self.folder, n) for n in range(WRITERS))]
        before = [_changed(path) for path in paths]
        self.wait_until(
            lambda: all(_changed(path) > then for path, then in zip(paths, before, strict=True))
        )
        time.sleep(self.random.uniform(0, 0.5))

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something that the actors do."""
        until = time.monotonic() + _SECONDS_TO_WORK
        while not is_so():
            assert time.monotonic() < until, "somebody does nothing"
            self._check_alive()
            time.sleep(0.05)

    def _check_alive(self) -> None:
        for role, process in self.processes.items():
            if process.poll() is not None:
                raise AssertionError(f"{role}: {process.communicate()[1][-3000:]}")

    def end(self) -> None:
        """Let all come to an end."""
        (self.folder / STOP).touch()
        for role in _ROLES:
            if role == _FOLLOWER:
                (self.folder / STOP_FOLLOWING).touch()
            _, err = self.processes[role].communicate(timeout=_SECONDS_TO_END)
            assert self.processes[role].returncode == 0, f"{role}: {err[-3000:]}"


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


@pytest.fixture
def crew(tmp_path: Path, seed: int) -> Iterator[Crew]:
    crew = Crew(tmp_path, random.Random(seed), seed)
    yield crew
    for process in crew.processes.values():
        process.kill()
        process.communicate()


@pytest.mark.parametrize("producer", ["input", "lookup"])
def test_what_was_acknowledged_is_there_and_followed(crew: Crew, producer: str) -> None:
    catalog = pl.connect(crew.folder / "warehouse")
    catalog.create_database("db")
    options = {"bucket": "1", "changelog-producer": producer}
    columns = {"k": "BIGINT NOT NULL", "v": "BIGINT"}
    table = catalog.create_table("db.t", columns, primary_keys=["k"], options=options)
    for role in _ROLES:
        if role not in _KEEPERS:
            crew.employ(role)
    crew.wait_until(lambda: CONSUMER in table.consumers.list())
    # From now on nothing may expire before it is followed.
    for role in _KEEPERS:
        crew.employ(role)

    until = time.monotonic() + SECONDS / 2
    while crew.strikes < LEAST_STRIKES or time.monotonic() < until:
        crew.wait_for_work()
        crew.strike()
    crew.wait_for_work()
    crew.end()

    rows = dict(zip(*table.scan(["k", "v"]).to_arrow().to_pydict().values(), strict=True))
    acknowledged = _check_ledgers(crew.folder, rows)
    print(f"{acknowledged} acknowledged, {crew.kills} kills, {crew.stops} stops")  # noqa: T201
    assert acknowledged
    followed = json.loads(followed_of(crew.folder).read_text(encoding="utf-8"))["rows"]
    assert {int(key): value for key, value in followed.items()} == rows
    for tag in table.tags.list():
        table.scan(tag=tag).to_arrow()
    errors = [one for one in table.fsck(deep=True).findings if one.severity == "error"]
    assert not errors, errors


def _check_ledgers(folder: Path, rows: Mapping[int, int]) -> int:
    """Check that each key has what was sure last, or something that was meant after it."""
    acknowledged = 0
    for number in range(WRITERS):
        allowed: dict[int, list[int | None]] = {}
        for line in ledger_of(folder, number).read_text(encoding="utf-8").splitlines():
            ((state, change),) = json.loads(line).items()
            acknowledged += state == "sure"
            for key, value in change.items():
                known = allowed.setdefault(int(key), [None])
                if state == "sure":
                    known[:] = [value]
                elif state == "meant":
                    known.append(value)
                elif state == "not":
                    known.pop()
        for key, values in allowed.items():
            assert rows.get(key) in values, f"key {key} is {rows.get(key)}, not one of {values}"
    return acknowledged
