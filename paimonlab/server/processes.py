"""Processes that answer the panel's questions, and jobs: each a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

PATIENCE_SECONDS = 120.0
"""An answer that takes longer is given up, and its process ends."""
MOST_BYTES = 64_000_000
"""Of one answer."""
MOST_RUNNING = 4
"""Jobs at a time."""
JOBS_KEPT = 50


class RefusedError(Exception):
    """A request that was not answered.

    Parameters
    ----------
    status
        HTTP's number.
    message
        What is said.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Reader:
    """A process that answers questions one after the other; it starts with the first.

    Parameters
    ----------
    root
        The folder that it may look into.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, question: str, values: Mapping[str, Any]) -> Any:
        """Ask, and wait for the answer.

        Raises
        ------
        RefusedError
            If there is none.
        """
        async with self._turn:
            if self._process is None or self._process.returncode is not None:
                self._process = await _started(self._root)
            answered = False
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    message = await _asked(self._process, question, values)
                answered = True
            except TimeoutError:
                raise RefusedError(504, f"no answer in {PATIENCE_SECONDS:.0f} seconds") from None
            except (OSError, EOFError, ValueError) as error:
                raise RefusedError(500, f"the process that reads tables ended: {error}") from error
            finally:
                if not answered:  # it would answer the next question with this one's
                    self.end()
        if "error" in message:
            raise RefusedError(message["status"], message["error"])
        return message["reply"]

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            _end(self._process)
            self._process = None


@dataclass(kw_only=True)
class Job:
    """Something that is done to a table."""

    id: int
    label: str
    begun: float = field(default_factory=time.time)
    status: str = "running"
    """``running``, ``done``, ``failed`` or ``stopped``."""
    said: str = ""
    """What was done, or why not."""
    progress: tuple[int, int, str] | None = None
    process: Process | None = None

    def shown(self) -> dict[str, Any]:
        """Return what the panel shows."""
        hidden = {"process", "begun"}
        facts = {name: value for name, value in vars(self).items() if name not in hidden}
        return {**facts, "beganMillis": round(self.begun * 1000)}


class Jobs:
    """What was begun in the panel since the server started.

    Parameters
    ----------
    root
        The folder that jobs may look into.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._jobs: dict[int, Job] = {}
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()

    def list(self) -> list[dict[str, Any]]:
        """Return all that are kept, the newest first."""
        return [job.shown() for job in reversed(self._jobs.values())]

    async def begin(self, label: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a job.

        Raises
        ------
        RefusedError
            If `MOST_RUNNING` are running.
        """
        running = [job for job in self._jobs.values() if job.status == "running"]
        if len(running) >= MOST_RUNNING:
            raise RefusedError(429, f"{len(running)} jobs are running: wait, or stop one")
        job = Job(id=next(self._numbers), label=label)
        self._jobs[job.id] = job
        ended = [other.id for other in self._jobs.values() if other.status != "running"]
        for id in ended[: max(len(self._jobs) - JOBS_KEPT, 0)]:
            del self._jobs[id]
        job.process = await _started(self._root)
        task = asyncio.create_task(self._follow(job, job.process, values))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job.shown()

    def stop(self, id: int) -> None:
        """Stop a job; what it has not committed is not part of its table.

        Raises
        ------
        RefusedError
            If there is no such job.
        """
        job = self._jobs.get(id)
        if job is None:
            raise RefusedError(404, f"there is no job {id}")
        if job.status == "running" and job.process is not None:
            job.status, job.said = "stopped", "stopped; files that it wrote are orphans"
            _end(job.process)

    async def _follow(self, job: Job, process: Process, values: Mapping[str, Any]) -> None:
        def progressed(message: Mapping[str, Any]) -> None:
            job.progress = tuple(message["progress"])

        try:
            message = await _asked(process, "do", values, progressed)
        except (OSError, EOFError, ValueError) as error:
            message = {"error": f"its process ended: {error}"}
        if job.status == "running":
            is_done = "reply" in message
            job.status = "done" if is_done else "failed"
            job.said = message["reply"]["said"] if is_done else message["error"]
        _end(process)
        await process.wait()


async def _started(root: Path) -> Process:
    # -P: nothing is imported from the folder that the server shows.
    command = (sys.executable, "-P", "-m", "paimonlab.server.worker", os.fspath(root))
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, cwd=root, limit=MOST_BYTES
    )


async def _asked(
    process: Process, question: str, values: Mapping[str, Any], progressed: Any = None
) -> dict[str, Any]:
    assert process.stdin is not None, "it is piped"
    assert process.stdout is not None, "it is piped"
    request = msgspec.json.encode({"ask": question, "with": dict(values)})
    process.stdin.write(request + b"\n")
    await process.stdin.drain()
    while True:
        line = await process.stdout.readline()
        if not line:
            raise EOFError(f"its exit status is {await process.wait()}")
        message: dict[str, Any] = msgspec.json.decode(line)
        if "progress" not in message:
            return message
        if progressed is not None:
            progressed(message)


def _end(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
