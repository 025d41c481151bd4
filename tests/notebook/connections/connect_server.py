"""A Spark Connect server in a process of its own, for the warehouse that is its argument.

It prints its address, and for each line that it reads the number of ``jobs`` that run, or of the
``sessions`` that have a catalog; it ends with its input.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paimonlab.spark import serve
from paimonlab.spark.sessions.server import CatalogOfSessions


class Server:
    """What a test knows of the process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.url = self._answer()

    def count(self, what: str) -> int:
        """Ask how many ``jobs`` run, or how many ``sessions`` have a catalog."""
        assert self._process.stdin is not None
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()
        return int(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server has ended"
        return line.strip()


@contextmanager
def started(warehouse: Path, environment: dict[str, str]) -> Iterator[Server]:
    """Run a server until the test is done with it."""
    command = [sys.executable, "-m", __name__, str(warehouse)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def main() -> None:
    """Serve until the input ends."""
    conf = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.connect.progress.reportInterval": "200ms",  # statements of tests are short
    }
    with serve(sys.argv[1], port=0, master="local[2]", memory="1g", conf=conf) as server:
        say(server.url)
        tracker = server.spark.sparkContext.statusTracker()
        (catalogs,) = [one for one in gc.get_objects() if type(one) is CatalogOfSessions]
        for line in sys.stdin:
            counts = {"jobs": len(tracker.getActiveJobsIds()), "sessions": catalogs.session_count}
            say(str(counts[line.strip()]))


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
