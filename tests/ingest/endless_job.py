"""A job of `test_takeovers`, in a process of its own: one row after the other until a number."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping

import paimonlab as pm
from paimonlab.ingest import leases
from paimonlab.ingest.changes import Boundary, Event, JsonValue, Phase, SourceSchema
from tests.ingest.drawing import source
from tests.ingest.scripted import rows

PLAIN = "no BIGINT"
LIVES_MILLIS = 1_000


class Numbers:
    """Counts from 0 to an end, a row each few milliseconds."""

    name = "numbers"

    def __init__(self, end: int, seconds: float) -> None:
        self.end = end
        self.seconds = seconds

    def tables(self) -> Mapping[str, SourceSchema]:
        return {"a.t": source(PLAIN)}

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        assert wanted("a.t")
        for number in range(position if isinstance(position, int) else 0, self.end):
            time.sleep(self.seconds)
            yield rows("a.t", PLAIN, f"+I {number}")
            yield Boundary(position=number + 1, phase=Phase.STREAM)
        yield Boundary(position=self.end, phase=Phase.ENDED)

    def acknowledge(self, position: JsonValue) -> None:
        pass

    def close(self) -> None:
        pass


def main(warehouse: str, end: int) -> None:
    """Run the job."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts it may ignore it
    leases.LIVES_MILLIS = LIVES_MILLIS
    job = pm.connect(warehouse).ingest(Numbers(end, 0.005), into="ods", name="job", max_rows=3)
    job.run(None)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
