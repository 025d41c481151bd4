"""How often a follower that waits looks for the next snapshot."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.table.following import waiting
from paimonlab.table.following.waiting import SHORTEST_SECONDS, SystemClock, pause_seconds
from tests.table.following.followers import followed, write


class Impatient(threading.Event):
    """An event whose waits take no time."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        """Return at once."""
        self.waits.append(timeout)
        return self.is_set()


class Times:
    """Time that passes only where a test says so."""

    def __init__(self, now: list[float]) -> None:
        self.now = now

    def monotonic(self) -> float:
        """Return the time."""
        return self.now[0]

    def thread_time(self) -> float:
        """Return the processor time."""
        return self.now[0]


class Patient(Impatient):
    """An event that is never set, and whose waits take the time that they should."""

    def __init__(self, now: list[float]) -> None:
        super().__init__()
        self.now = now

    def wait(self, timeout: float | None = None) -> bool:
        """Let the time pass."""
        self.now[0] += timeout or 0.0
        return super().wait(timeout)


def test_it_looks_until_there_are_news() -> None:
    woken, answers = Impatient(), iter([False, False, True])

    SystemClock().wait(woken, 10_000, lambda: next(answers))

    assert next(answers, None) is None
    assert len(woken.waits) == 3
    assert woken.waits[0] == SHORTEST_SECONDS


def test_it_stops_when_it_is_woken() -> None:
    woken = Impatient()
    woken.set()

    SystemClock().wait(woken, 10_000, pytest.fail)

    assert len(woken.waits) == 1


def test_it_waits_no_longer_than_told(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [0.0]
    monkeypatch.setattr(waiting, "time", Times(times))
    woken, looks = Patient(times), list[float]()

    def has_news() -> bool:
        looks.append(times[0])
        return False

    SystemClock(shortest_seconds=0.125).wait(woken, 300, has_news)

    assert looks == [0.125, 0.25, 0.3]
    assert woken.waits == [0.125, 0.125, pytest.approx(0.05)]


def test_a_look_that_was_interrupted_is_not_taken_for_one_at_another_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    woken, looks = Impatient(), iter([False, False, "slow", False, True])
    times = [0.0]
    monkeypatch.setattr(waiting, "time", Times(times))

    def has_news() -> bool:
        look = next(looks)
        times[0] += 0.5 if look == "slow" else 100 * 1e-6
        return look is True

    clock = SystemClock()
    times[0] = 3600.0  # nothing happened for an hour
    clock.wait(woken, 10_000, has_news)

    assert len(woken.waits) == 5
    assert max(float(pause or 0) for pause in woken.waits) <= 0.16


def test_without_a_question_it_waits_all_the_time() -> None:
    woken = Impatient()

    SystemClock().wait(woken, 1500)

    assert woken.waits == [1.5]


@pytest.mark.parametrize(
    ("look", "pause"),
    [
        ({"wall_seconds": 0.0, "cpu_seconds": 0.0, "idle_seconds": 1e6}, SHORTEST_SECONDS),
        # At most a five-hundredth of a core, after news have become rare.
        ({"wall_seconds": 0.0001, "cpu_seconds": 0.0002, "idle_seconds": 60.0}, 0.1),
        ({"wall_seconds": 0.0001, "cpu_seconds": 0.0002, "idle_seconds": 1.0}, SHORTEST_SECONDS),
        # A commit on this machine is never noticed late.
        ({"wall_seconds": 0.001, "cpu_seconds": 0.001, "idle_seconds": 1e6}, 0.16),
        # A store on another machine is asked less and less often.
        ({"wall_seconds": 0.1, "cpu_seconds": 0.0, "idle_seconds": 0.0}, SHORTEST_SECONDS),
        ({"wall_seconds": 0.1, "cpu_seconds": 0.0, "idle_seconds": 60.0}, 6.0),
    ],
)
def test_pauses(look: dict[str, Any], pause: float) -> None:
    assert pause_seconds(**look) == pytest.approx(pause)


def test_a_commit_is_news_to_a_follower_that_waits(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", {"id": "INT NOT NULL", "v": "STRING"})
    asked: list[bool] = []

    class Watching:
        def now_millis(self) -> int:
            return 2**41

        def wait(self, woken: threading.Event, millis: int, has_news: Any = None) -> None:
            asked.append(has_news())
            write(table, ("+I", len(asked), "a"))
            asked.append(has_news())

    follower = followed(table, Watching(), start="latest-full")

    assert [next(follower).snapshot_id, next(follower).snapshot_id] == [1, 2]
    assert asked == [False, True, False, True]
