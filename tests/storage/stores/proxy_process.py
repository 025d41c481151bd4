"""A proxy that is a process: ``python -m tests.storage.stores.proxy_process SERVER PORT``.

It prints its address. Each line of its standard input sets what goes wrong from then on, and is
answered by how often it happened before; it ends with its input.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.storage.stores.proxy import Fault, Proxy, proxy_of


@dataclass(frozen=True)
class Trouble:
    """What goes wrong with some requests."""

    fault: Fault
    methods: tuple[str, ...] = ("PUT",)
    parts: tuple[str, ...] = ("",)
    """Requests whose path has one of these."""
    times: int = 10**6
    """How often with each method and path."""


class Between:
    """The process, as its parent sees it."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._process = _started(server, 0)
        self.url = self._line()

    def start_again(self) -> None:
        """Start it on its port, once it has been killed."""
        self._process.wait()
        self.end()
        self._process = _started(self._server, urlsplit(self.url).port or 0)
        assert self._line() == self.url

    def end(self) -> None:
        """Let it end."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process.wait()

    def set(self, trouble: Trouble | None) -> Mapping[str, int]:
        """Let this go wrong; return how often what faults happened before."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(trouble and asdict(trouble)) + "\n")
        self._process.stdin.flush()
        done: dict[str, int] = json.loads(self._line())
        return done

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def running(server: str) -> Iterator[Between]:
    """Start the process before a server."""
    between = Between(server)
    try:
        yield between
    finally:
        between.end()


def _started(server: str, port: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", __name__, server, str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def _choose(proxy: Proxy, trouble: Trouble | None) -> None:
    left: Counter[str] = Counter()

    def choose(method: str, path: str, is_conditional: bool) -> Fault | None:
        del is_conditional
        named = unquote(path)
        if trouble is None or method not in trouble.methods:
            return None
        if not any(part in named for part in trouble.parts):
            return None
        left[f"{method} {named}"] += 1
        return trouble.fault if left[f"{method} {named}"] <= trouble.times else None

    proxy.choose = choose


def main(server: str, port: str) -> None:
    """Stand before a server."""
    with proxy_of(server, int(port)) as proxy:
        print(proxy.url, flush=True)  # noqa: T201 - its parent reads it
        for line in sys.stdin:
            told = json.loads(line)
            with proxy.lock:
                _choose(proxy, told and Trouble(**told))
                print(json.dumps(proxy.done), flush=True)  # noqa: T201
                proxy.done.clear()


if __name__ == "__main__":
    main(*sys.argv[1:])
