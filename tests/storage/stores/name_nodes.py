"""Two name nodes of one service, each a process: ``python -m tests.storage.stores.name_nodes …``.

They serve WebHDFS as hadoop.apache.org, "WebHDFS REST API", has it, over one folder, which stands
for the journal that both share: what is done in it is done under a lock, by the one that a file
there names as active, so one that lost its turn is fenced. Name node and data node are one.

The next request that a file names lets a node be killed or stopped, before or after it is done.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.listening import body_of
from tests.ports import HOST, free_ports

NODES = ("nn1", "nn2")
_QUESTIONS = ("GETFILESTATUS", "LISTSTATUS_BATCH", "OPEN")
_ROOT = Path(__file__).parents[3]


class Service:
    """The two, as their parent sees them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in ("files", "faults"):
            (folder / name).mkdir()
        (folder / "lock").touch()
        self.activate(NODES[0])
        self.ports = dict(zip(NODES, free_ports(2), strict=True))
        self._processes = {name: self._started(name) for name in NODES}
        self.deaths = self.stops = 0
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._follow, daemon=True)
        self._watch.start()

    @property
    def options(self) -> Mapping[str, str]:
        """Options of a catalog there."""
        pairs = {f"hadoop.dfs.namenode.http-address.lake.{k}": v for k, v in self._places()}
        names = {"hadoop.dfs.nameservices": "lake", "hadoop.dfs.ha.namenodes.lake": ",".join(NODES)}
        return {"warehouse": "webhdfs://lake/w", **names, **pairs}

    def _places(self) -> list[tuple[str, str]]:
        return [(name, f"{HOST}:{port}") for name, port in self.ports.items()]

    @property
    def active(self) -> str:
        """Which one is active."""
        return (self._folder / "active").read_text()

    def activate(self, name: str) -> None:
        """Let another one be active."""
        new = self._folder / "active.new"
        new.write_text(name)
        new.replace(self._folder / "active")

    def observe(self) -> None:
        """Let nodes that are not active answer questions from an empty past, as observers may."""
        (self._folder / "observers").touch()

    @property
    def observed(self) -> int:
        """How many of such answers were given."""
        return (self._folder / "observers").stat().st_size

    def arm(self, operation: str, part: str, what: str) -> None:
        """Let a node be killed or stopped at the next request of a kind."""
        (self._folder / "faults" / "next").write_text(json.dumps([operation, part, what]))

    @property
    def is_armed(self) -> bool:
        """Whether that has yet to happen."""
        return (self._folder / "faults" / "next").exists()

    def end(self) -> None:
        """Let both end."""
        self._ended.set()
        self._watch.join()
        for process in self._processes.values():
            process.kill()
            _reap(process)

    def _started(self, name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", __name__, name, str(self._folder), str(self.ports[name])]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=_ROOT)
        assert process.stdout is not None
        assert process.stdout.readline()
        return process

    def _follow(self) -> None:
        """Do what a failover controller does: see to it that a node that lives is active."""
        while not self._ended.wait(0.005):
            for name, process in self._processes.items():
                state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
                if state not in "TZ":
                    continue
                self.activate(NODES[1 - NODES.index(name)])
                if state == "T":
                    self.stops += 1
                    time.sleep(0.2)  # until nobody waits for it any more
                    process.send_signal(signal.SIGCONT)
                else:
                    self.deaths += 1
                    _reap(process)
                    self._processes[name] = self._started(name)
                break


def _reap(process: subprocess.Popen[bytes]) -> None:
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@contextmanager
def running(folder: Path) -> Iterator[Service]:
    """Start both; the first is active."""
    service = Service(folder)
    try:
        yield service
    finally:
        service.end()


def _refused(status: int, name: str, message: str) -> tuple[int, Any]:
    return status, {"RemoteException": {"exception": name, "message": message}}


class _Node:
    """One name node, in its process."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self._folder = name, folder

    def answer(self, operation: str, path: str, query: Mapping[str, str], body: bytes) -> Any:
        """Do what is asked, or what goes wrong then."""
        what = self._fault(operation, path + query.get("destination", ""))
        self._suffer(what, "before")
        with (self._folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (self._folder / "active").read_text() != self.name:
                told = self._of_standby(operation)
            else:
                told = self._done(operation, self._folder / f"files{path}", query, body)
        self._suffer(what, "after")
        return told

    def _of_standby(self, operation: str) -> tuple[int, Any]:
        observers = self._folder / "observers"
        if observers.exists() and operation in _QUESTIONS:
            with observers.open("a") as counted:
                counted.write("1")
            return _refused(404, "FileNotFoundException", "it is not there yet")
        return _refused(403, "StandbyException", "Operation category is not supported")

    def _fault(self, operation: str, path: str) -> str:
        """Take what goes wrong: one process alone gets it."""
        armed = self._folder / "faults" / "next"
        try:
            wanted, part, what = json.loads(armed.read_text())
            if wanted != operation or part not in path:
                return ""
            if (self._folder / "active").read_text() != self.name:
                return ""
            armed.unlink()
        except (FileNotFoundError, ValueError):
            return ""
        return str(what)

    def _suffer(self, what: str, when: str) -> None:
        kind, _, its_time = what.partition(" ")
        if its_time == when:
            os.kill(os.getpid(), signal.SIGKILL if kind == "kill" else signal.SIGSTOP)

    def _done(  # noqa: C901, PLR0911, PLR0912 - a list of operations
        self, operation: str, path: Path, query: Mapping[str, str], body: bytes
    ) -> tuple[int, Any]:
        if operation == "MKDIRS":
            path.mkdir(parents=True, exist_ok=True)
            return 200, {"boolean": True}
        if operation == "CREATE":
            return 307, None
        if operation == "DATA":
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                return _refused(403, "FileAlreadyExistsException", path.name)
            path.write_bytes(body)
            return 201, None
        if operation == "DELETE":
            if path.is_dir():
                shutil.rmtree(path)
            elif path.exists():
                path.unlink()
            else:
                return 200, {"boolean": False}
            return 200, {"boolean": True}
        if not path.exists():
            return _refused(404, "FileNotFoundException", path.name)
        if operation == "RENAME":
            target = self._folder / f"files{query['destination']}"
            if target.exists() and query["renameoptions"] != "OVERWRITE":
                return _refused(403, "FileAlreadyExistsException", target.name)
            path.rename(target)
            return 200, None
        if operation == "OPEN":
            return 307, None
        if operation == "BYTES":
            start = int(query["offset"])
            return 200, path.read_bytes()[start : start + int(query["length"])]
        if operation == "GETFILESTATUS":
            return 200, {"FileStatus": {**_status(path), "pathSuffix": ""}}
        assert operation == "LISTSTATUS_BATCH"
        found = {"FileStatuses": {"FileStatus": [_status(one) for one in path.iterdir()]}}
        return 200, {"DirectoryListing": {"partialListing": found, "remainingEntries": 0}}


def _status(path: Path) -> Mapping[str, Any]:
    kind = "DIRECTORY" if path.is_dir() else "FILE"
    found = path.stat()
    millis = int(found.st_mtime * 1000)
    length = 0 if path.is_dir() else found.st_size
    return {"pathSuffix": path.name, "type": kind, "length": length, "modificationTime": millis}


def _serve(name: str, folder: Path, port: int) -> None:
    node = _Node(name, folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            operation = query["op"]
            if "data" in query:
                operation = "DATA" if operation == "CREATE" else "BYTES"
            path = unquote(parts.path).removeprefix("/webhdfs/v1")
            status, found = node.answer(operation, path, query, body_of(self))
            data = found if isinstance(found, bytes) else json.dumps(found or {}).encode()
            self.send_response(status)
            if status == 307:
                place = f"http://{HOST}:{port}{self.path}&data=true"
                self.send_header("Location", place)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_DELETE = _answer  # noqa: N815 - as called there

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Say nothing of clients that did not wait."""

    with Server((HOST, port), Handler) as server:
        print("ready", flush=True)  # noqa: T201 - its parent waits for it
        server.serve_forever()


if __name__ == "__main__":
    _serve(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
