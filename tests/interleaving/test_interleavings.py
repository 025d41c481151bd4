"""Every step of every operation is delayed past others; nobody is told what is not true.

A failure says which operations stood still before which calls of the store, and the seed. To run
one again: ``Schedule.check(Step("append", {21: [Step("expire but one")]}))``.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import product

import numpy as np
import pytest

from paimonlab.commit.landing import Landing
from paimonlab.commit.race import Race
from paimonlab.commit.settlement import Settler
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.storage.forks import UniqueNames
from tests.interleaving.schedule import Schedule, Step
from tests.interleaving.world import OPERATIONS, Names, made

AT_LEAST = int(os.environ.get("PAIMONLAB_INTERLEAVINGS", "1000"))
"""How many interleavings; 20,000 try each call with each of what may happen meanwhile, 5,000 with
one of four, 2,500 with one of eight, fewer with one of sixteen."""
_ALL = 20_000
_MEETS = 1 if AT_LEAST >= _ALL else 4 if AT_LEAST >= 5000 else 8 if AT_LEAST >= 2500 else 16
"""One of how many things that may happen meanwhile each call meets."""
IN_STORE = "PAIMONLAB_INTERLEAVED_STORE" in os.environ
"""Whether commits look as little before they publish as they do in object stores."""
RANDOM = 500 if AT_LEAST >= _ALL else 150
_SLOW = {
    "roll back": 3,
    "roll back to tag": 3,
    "overwrite": 2,
    "compact": 2,
    "append": 2,
    "append after own": 4,
    "append after seen": 4,
}
"""Operations of which each call meets every so many of what may happen meanwhile, in turns."""
_FAST = ("expire but one", "tag", "replace tag", "delete tag", "rename tag", "branch")
"""Operations that meet any two others, before they have changed anything."""
MEANWHILE = (
    "append",
    "expire but one",
    "append; append; expire but one",
    "append; append; append; expire but two",
    "append; tag; append; expire but one",
    "compact; append; expire but one",
    "overwrite; append; expire but one",
    "say; expire but one",
    "roll back",
    "roll back; append",
    "roll back; append; append; append",
    "roll back; append; append; append; expire but one",
    "expire but one; roll back to tag; append",
    "expire but one; roll back to tag; delete tag; append; append",
    "expire, keep changes; append; expire, keep changes; expire changes",
    "tag",
    "rename tag; append; expire but one",
    "replace tag; append; expire but one",
    "delete tag; expire but one",
    "branch; append; expire but one",
    "fast-forward; append",
    "delete branch; append; expire but one",
    "rename branch; append; expire but one",
    "alter; append",
)


def _never(_seconds: float) -> None:
    """Wait in simulated time."""


@pytest.fixture
def schedule(monkeypatch: pytest.MonkeyPatch) -> Schedule:
    if IN_STORE:
        for asking in (Landing, SnapshotManager):
            monkeypatch.setattr(asking, "_is_stored", property(lambda _: True))
    names = Names()
    monkeypatch.setattr("uuid.uuid4", names.uuid4)
    monkeypatch.setattr(UniqueNames, "next", lambda _self: f"{names.uuid4()}-0")
    landing = "paimonlab.commit.landing"
    monkeypatch.setattr(f"{landing}.Race", partial(Race, sleep=_never, clock=lambda: 0.0))
    monkeypatch.setattr(f"{landing}.Settler", partial(Settler, sleep=_never))
    names.of("made")
    return Schedule(made(), names)


def test_nobody_is_told_what_is_not_true(schedule: Schedule, rng: np.random.Generator) -> None:
    for operation in OPERATIONS:
        step = _SLOW.get(operation, 1) * _MEETS
        for call in range(1, schedule.calls(operation) + 1):
            for script in MEANWHILE[call % step :: step]:
                others = [Step(name) for name in script.split("; ")]
                schedule.check(Step(operation, {call: others}))
    for _ in range(RANDOM):
        schedule.check(_drawn(rng, depth=1))
    pairs = [[Step(one), Step(two)] for one, two in product(OPERATIONS, repeat=2)]
    first_change = {name: schedule.first_change(name) for name in _FAST}
    for pair, name in product(pairs, _FAST):
        for call in range(1, first_change[name] + 1):
            if schedule.tried < AT_LEAST:
                schedule.check(Step(name, {call: pair}))
    assert schedule.tried >= AT_LEAST


def test_a_snapshot_that_expired_while_a_rollback_held_it_does_not_come_back(
    schedule: Schedule,
) -> None:
    """What came instead of it was not built upon it."""
    others = [Step(name) for name in ("compact", "append", "expire but one")]
    for call in range(55, 85):
        schedule.check(Step("roll back", {call: others}))


def test_a_rollback_that_is_refused_leaves_the_hint_of_another(schedule: Schedule) -> None:
    expired = [Step("expire but two"), Step("expire but one")]
    for call in range(50, 70):
        schedule.check(Step("roll back to tag", {23: expired, call: [Step("roll back to tag")]}))


def _drawn(rng: np.random.Generator, depth: int) -> Step:
    """Draw an operation that stands still once or twice, while others run through."""
    name = str(rng.choice([*OPERATIONS]))
    if not depth:
        return Step(name)
    calls = sorted({int(call) for call in rng.geometric(0.06, rng.integers(1, 3))})
    return Step(name, {call: _others(rng, depth - 1) for call in calls})


def _others(rng: np.random.Generator, depth: int) -> list[Step]:
    return [_drawn(rng, depth) for _ in range(rng.integers(1, 4))]
