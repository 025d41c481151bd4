"""Processes that race for names, or stand still with a lock; for tests of catalogs."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Mapping
from typing import Any

import paimonlab as pl
from paimonlab.catalog.jdbc import opening  # noqa: F401 - loaded before processes are forked
from paimonlab.commit.publisher import RenamelessPublisher
from paimonlab.errors import AlreadyExistsError
from paimonlab.spec.snapshot import Snapshot

COLUMNS = {"id": "INT"}


def race(
    options: Mapping[str, str], number: int, names: str, rounds: int, barrier: Any, won: Any
) -> None:
    """Want one of some names in each round, by creating a table or by renaming one's own.

    Parameters
    ----------
    number
        Of this process.
    names
        One letter each.
    barrier
        Where all processes of a round wait for each other.
    won
        A queue that is told round, name and process of each success, or what went wrong.
    """
    catalog = pl.connect(options)
    own = f"db.own{number}"
    catalog.create_table(own, COLUMNS)
    for turn in range(rounds):
        name = names[(number + turn) % len(names)]
        renames = (number // len(names) + turn) % 2 == 1
        barrier.wait()
        outcome = "lost"
        try:
            if renames:
                catalog.rename_table(own, f"db.{name}")
            else:
                catalog.create_table(f"db.{name}", COLUMNS)
            outcome = "won"
        except AlreadyExistsError:
            pass
        except Exception as error:  # noqa: BLE001 - the test tells it
            outcome = f"{type(error).__name__}: {error}"
        won.put((turn, name, number, outcome))
        barrier.wait()
        if outcome == "won":
            catalog.table(f"db.{name}").write([{"id": number}])
            catalog.drop_table(f"db.{name}")
            if renames:
                catalog.create_table(own, COLUMNS)
        barrier.wait()


def each_name_has_one_winner(
    options: Mapping[str, str], processes: Any, count: int, names: str, rounds: int
) -> None:
    """Let processes race, and check that one of them got each name in each round.

    Parameters
    ----------
    processes
        A context of `multiprocessing`.
    count
        How many processes.
    """
    barrier, won = processes.Barrier(count), processes.Queue()
    racers = [
        processes.Process(target=race, args=(options, number, names, rounds, barrier, won))
        for number in range(count)
    ]
    for racer in racers:
        racer.start()
    outcomes = [won.get(timeout=300) for _ in range(count * rounds)]
    for racer in racers:
        racer.join(300)

    assert [racer.exitcode for racer in racers] == [0] * count
    assert {outcome for *_, outcome in outcomes} == {"won", "lost"}
    winners = Counter((turn, name) for turn, name, _, outcome in outcomes if outcome == "won")
    races = {(turn, name) for turn, name, *_ in outcomes}
    assert winners == dict.fromkeys(races, 1)


def stand_still(options: Mapping[str, str]) -> None:
    """Commit, and stop in the middle: with the lock, and before the snapshot is published."""
    publish = RenamelessPublisher.publish
    has_stopped = False

    def stopped(self: RenamelessPublisher, snapshot: Snapshot) -> bool:
        nonlocal has_stopped
        if not has_stopped:
            has_stopped = True
            os.kill(os.getpid(), signal.SIGSTOP)
        return publish(self, snapshot)

    RenamelessPublisher.publish = stopped  # type: ignore[method-assign]
    pl.connect(options).table("db.t").write([{"id": 1}])
