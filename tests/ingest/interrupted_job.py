"""A job of `test_interrupts`, in a process of its own that gets SIGINT: ``python -m …``.

Each part of its work can be made to take long, in a step that Python does not interrupt.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import paimonlab as pm
from paimonlab.ingest import running
from paimonlab.ingest.changes import Boundary, Event, JsonValue, Phase, SourceSchema
from paimonlab.ingest.epochs import JobFiles
from paimonlab.ingest.leases import Lease
from paimonlab.ingest.targets import Target
from tests.ingest.drawing import source
from tests.ingest.scripted import rows

PLAIN = "no BIGINT"
LONG_SECONDS = 30.0
_threads = ctypes.CDLL(None)
_lock = ctypes.create_string_buffer(128)
"""A mutex of the system: who waits for it hears no signal."""


def say(text: str) -> None:
    """Tell the test."""
    print(text, flush=True)  # noqa: T201 - the test waits for it


def hanging(owner: Any, name: str, *, is_told: bool = True) -> Callable[[], None]:
    """Let a method wait as for a disk that does not answer; return what lets it go on."""
    real = getattr(owner, name)

    def slow(*given: Any, **told: Any) -> Any:
        if is_told:
            say("hangs")
        _threads.pthread_mutex_lock(_lock)
        _threads.pthread_mutex_unlock(_lock)
        return real(*given, **told)

    def release() -> None:
        setattr(owner, name, real)
        end.cancel()
        _threads.pthread_mutex_unlock(_lock)

    _threads.pthread_mutex_lock(_lock)
    end = threading.Timer(LONG_SECONDS, lambda: _threads.pthread_mutex_unlock(_lock))
    end.daemon = True
    end.start()
    setattr(owner, name, slow)
    return release


class Numbers:
    """A row, then a boundary, without end."""

    name = "numbers"

    def tables(self) -> Mapping[str, SourceSchema]:
        return {"a.t": source(PLAIN)}

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        assert wanted("a.t")
        number = position if isinstance(position, int) else 0
        while True:
            yield rows("a.t", PLAIN, f"+I {number}")
            number += 1
            yield Boundary(position=number, phase=Phase.STREAM)
            time.sleep(0.01)

    def acknowledge(self, position: JsonValue) -> None:
        pass

    def close(self) -> None:
        pass


class WaitingNumbers(Numbers):
    """Rows after the boundary, then nothing, as if a server were silent."""

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        number = position if isinstance(position, int) else 0
        for _ in range(3):
            yield rows("a.t", PLAIN, f"+I {number}")
            time.sleep(0.01)
        say("hangs")
        time.sleep(LONG_SECONDS)


ENDS: Mapping[str, tuple[Any, str]] = {
    "dropped files": (Target, "abort"),
    "lease": (Lease, "release"),
}
"""What a run does after an interrupt."""
PARTS: Mapping[str, tuple[Any, str]] = {
    "files": (Target, "prepare"),
    "epoch": (JobFiles, "publish"),
    "commit": (running, "land"),
    "mark": (JobFiles, "mark_done"),
    "spill": (Target, "spill"),
}


def main(warehouse: str) -> None:
    """Run a job once for each part of its work; say when an interrupt was answered."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts it may ignore it
    catalog = pm.connect(warehouse)
    for part, (owner, name) in PARTS.items():
        size = 1 if part == "spill" else 1 << 20
        job = catalog.ingest(Numbers(), into="ods", name="job", max_rows=3, max_bytes=size)
        job.run(rows=4)
        release = hanging(owner, name)
        try:
            job.run(None)
        except KeyboardInterrupt:
            say("answered")
        release()
        assert job.status.phase == "interrupted"
        job.run(rows=4)
    for part, (owner, name) in ENDS.items():
        size = 1 if part == "dropped files" else 1 << 20
        job = catalog.ingest(WaitingNumbers(), into="ods", name="job", max_bytes=size)
        release = hanging(owner, name, is_told=False)
        try:
            job.run(None)
        except KeyboardInterrupt:
            say("answered")
        release()
        assert job.status.phase == "interrupted"
        next_job = catalog.ingest(Numbers(), into="ods", name="job", max_rows=3)
        next_job.run(rows=4)
    say("ended")


if __name__ == "__main__":
    main(sys.argv[1])
