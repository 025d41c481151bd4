"""A server that is killed in the middle of commits, and starts again at its address.

Run as a program of its own: it forks before any thread has started. Arguments: the folder of a
warehouse, then for each life when it ends, as ``before:3``: a moment of the third commit that it
is asked for. The last life does not end by itself. Each life prints the address.
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import paimonlab as pl
from paimonlab.catalog.rest_server import committing, versions
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.store import TableStore
from tests.preloading import load_what_it_takes

MOMENTS = ("before", "published", "unanswered")
"""There is no snapshot; there is one that no hint names; all is done and no answer was sent."""
TOKEN = "tok"


def _die(*_: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process goes on")


def _end_at(moment: str, number: int) -> None:
    publish, numbers = committing.published, itertools.count(1)

    def published(store: TableStore, made: Snapshot) -> bool:
        is_last = next(numbers) >= number
        if is_last and moment == "before":
            _die()
        if is_last and moment == "published":
            SnapshotManager.write_latest_hint = _die  # type: ignore[assignment,method-assign]
        is_done = publish(store, made)
        if is_last and is_done:
            _die()
        return is_done

    setattr(versions, "published", published)  # noqa: B010 - it only uses the name


def _serve(folder: str, port: int) -> NoReturn:
    users = [User(name="me", token=TOKEN)]
    with Server(pl.connect(folder), users, ServeOptions(port=port)) as server:
        print(server.address, flush=True)  # noqa: T201 - the test reads it
        server.wait()
    os._exit(1)


def _commit_elsewhere() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        catalog = pl.connect(scratch)
        catalog.create_database("db")
        with catalog.serve() as server:
            made = pl.connect(server.options).create_table("db.t", {"n": "INT"})
            made.write([{"n": 1}])


def main(folder: str, ends: Sequence[str]) -> None:
    """Live as often as there are ends, and once more."""
    load_what_it_takes(_commit_elsewhere)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for end in (*ends, ""):
        child = os.fork()
        if child == 0:
            if end:
                moment, _, number = end.partition(":")
                _end_at(moment, int(number))
            _serve(folder, port)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status == -signal.SIGKILL, f"it ended by itself, status {status}"


@contextmanager
def mortal_server(folder: Path, ends: Sequence[str], log: Path) -> Iterator[str]:
    """Run the program; yield the address. ``log`` gets a line for each life."""
    command = [sys.executable, "-m", __name__, str(folder), *ends]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).parents[3],
        )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        with log.open("a") as output:
            output.write(process.stdout.read())
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
