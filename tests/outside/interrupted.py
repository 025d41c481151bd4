"""A process that is sent interrupts: ``interrupted.py WAREHOUSE SEED FIRST LATER``.

Forks ``FIRST`` children, each interrupted at a random time of its first import and scan, then sends
itself ``LATER`` interrupts while it works on. Prints as JSON what came out of each, and what did
not work afterwards.
"""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

_FINE = {"finished", "late", "KeyboardInterrupt", "PostCommitError", "CommitOutcomeUnknownError"}


_PATIENCE_SECONDS = 60


class Sniper:
    """Another process, which sends this one an interrupt some time after it was asked to."""

    def __init__(self) -> None:
        orders, self._orders = os.pipe()
        self._aimed = self._hit = 0
        self._process = os.fork()
        if not self._process:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.close(self._orders)
            while order := os.read(orders, 8):
                time.sleep(*struct.unpack("d", order))
                os.kill(os.getppid(), signal.SIGINT)
            os._exit(0)
        os.close(orders)
        signal.signal(signal.SIGINT, self._count)

    def _count(self, number: int, frame: FrameType | None) -> None:
        self._hit += 1
        signal.default_int_handler(number, frame)

    def aim(self, seconds: float) -> None:
        self._aimed += 1  # the interrupt may come before the write returns
        os.write(self._orders, struct.pack("d", seconds))

    def wait(self) -> None:
        """Return when the interrupt has come; it may come within."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while self._hit != self._aimed:
            if time.monotonic() > until:
                raise RuntimeError("an interrupt was lost")
            time.sleep(0.001)

    def end(self) -> None:
        os.close(self._orders)
        os.waitpid(self._process, 0)


def interrupted(act: Callable[[], object], sniper: Sniper, seconds: float) -> str:
    """Do something, interrupted after some time; returns what came of it."""
    outcome = "finished"
    try:
        sniper.aim(seconds)
        try:
            act()
        except BaseException as error:  # noqa: BLE001 - that is what is looked at
            outcome = type(error).__name__
            if outcome not in _FINE:
                outcome = f"{outcome}: {error}"
        sniper.wait()
    except KeyboardInterrupt:
        outcome = "late" if outcome == "finished" else outcome
    return outcome


def rows(*keys: int) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.table({"k": pa.array(keys, pa.int64()), "v": [f"v{key}" for key in keys]})


def open_table(warehouse: str) -> Any:
    import paimonlab  # noqa: PLC0415

    return paimonlab.connect(warehouse).table("db.t")


def first_scan(warehouse: str) -> None:
    open_table(warehouse).scan().to_pandas()


def works(table: Any) -> dict[str, Callable[[], object]]:
    """Return what is interrupted."""
    import paimonlab  # noqa: PLC0415
    from paimonlab.metadata.manifest_cache import shared_cache  # noqa: PLC0415

    def lookup() -> object:
        import pyarrow as pa  # noqa: PLC0415

        return table.lookup(pa.table({"k": [1, 2]}))

    def scan() -> object:
        shared_cache.clear()
        return table.scan().to_arrow()

    return {
        "scan": scan,
        "filter": lambda: table.scan(where=paimonlab.col("v") == "v7").to_arrow(),
        "lookup": lookup,
        "write": lambda: table.write(rows(*range(20))),
        "update": lambda: table.update({"v": "concat(v, '')"}, where="k < 5"),
        "compact": lambda: table.compact(full=True),
        "analyze": table.maintenance.analyze,
        "follow": lambda: list(table.follow(until="latest")),
        "fsck": lambda: table.fsck(deep=True),
    }


def wrong(warehouse: str, *names: str) -> str | None:
    """Do what is named, or all of it, undisturbed; returns what does not work."""
    try:
        table = open_table(warehouse)
        table.scan().to_pandas()
        acts = works(table)
        for name in names or acts:
            acts[name]()
        keys = sorted(table.scan(["k"]).to_arrow()["k"].to_pylist())
    except BaseException as error:  # noqa: BLE001 - that is what is looked at
        return f"{type(error).__name__}: {error}"
    return None if keys == list(range(20)) else f"the keys are {keys}"


def in_child(act: Callable[[], Any]) -> Any:
    """Do something in a process of its own and return it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, json.dumps(act()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said)


def first(warehouse: str, seconds: float) -> tuple[str, str | None]:
    """Interrupt the first import and scan of a process; returns what came of it, what is wrong."""
    sniper = Sniper()
    outcome = interrupted(lambda: first_scan(warehouse), sniper, seconds)
    sniper.end()
    return outcome, wrong(warehouse, "lookup", "write")


def timed(act: Callable[[], object]) -> float:
    start = time.monotonic()
    act()
    return time.monotonic() - start


def main(warehouse: str, seed: int, first_count: int, later_count: int) -> None:
    random_ = random.Random(seed)
    outcomes: Counter[str] = Counter()
    broken: list[str] = []

    def note(what: str, outcome: str, is_wrong: str | None = None) -> None:
        outcomes[outcome] += 1
        if outcome not in _FINE:
            broken.append(f"{what}: {outcome}")
        if is_wrong is not None:
            broken.append(f"after {what}, {outcome}: {is_wrong}")

    def trial(what: str) -> None:
        # A child takes as long as the one before it, about.
        longest = in_child(lambda: timed(lambda: first_scan(warehouse)))
        for _ in range(first_count // 2):
            seconds = random_.uniform(0, longest)
            note(what, *in_child(lambda seconds=seconds: first(warehouse, seconds)))  # type: ignore[misc]

    trial("first import")
    import paimonlab  # noqa: F401, PLC0415

    trial("first scan")
    acts = works(open_table(warehouse))
    longest = {name: timed(act) for name, act in acts.items()}
    sniper = Sniper()
    for _ in range(later_count):
        name = random_.choice(sorted(acts))
        note(name, interrupted(acts[name], sniper, random_.uniform(0, longest[name])))
    sniper.end()
    if (is_wrong := wrong(warehouse)) is not None:
        broken.append(f"at the end: {is_wrong}")
    print(json.dumps({"outcomes": outcomes, "broken": broken}))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
