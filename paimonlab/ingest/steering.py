"""What people ask of a job: of one that runs here, in another process, or runs next.

What is asked of other processes is a file in the folder of the job, which the process that runs
the job looks for, does, and deletes. What was begun is in the notes of the job by then, so that a
process that is killed in between goes on with it.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args
from uuid import uuid4

import msgspec

from paimonlab.clock import now_millis
from paimonlab.spec.decoding import ready
from paimonlab.storage import FileIO, join

logger = logging.getLogger(__name__)

Verb: TypeAlias = Literal["pause", "resume", "stop", "resnapshot", "add", "replay"]
"""What may be asked."""

VERBS: tuple[str, ...] = get_args(Verb)
_ASKED = "asked-"


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is asked of a job."""

    id: str
    verb: Verb
    what: str
    """A table, or a pattern of tables; empty: the job as a whole."""
    at_millis: int
    of: str = ""
    """Owner of the job that is meant; empty: whichever process runs it."""


def check_pattern(pattern: str) -> None:
    """Make sure that something is a regular expression.

    Raises
    ------
    ValueError
        If it is none.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None


def ask_of(verb: Verb, what: str = "", of: str = "") -> Ask:
    """Make what is asked now."""
    return Ask(id=uuid4().hex, verb=verb, what=what, at_millis=now_millis(), of=of)


@dataclass(slots=True)
class Waiting:
    """Something that a thread of this process asks, and waits for."""

    ask: Ask
    done: threading.Event = field(default_factory=threading.Event)
    problem: Exception | None = None
    """Why it was not done."""
    given: Any = None
    """What only this process can give: how rows are mended."""
    answer: Any = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What other processes ask of a job."""

    file_io: FileIO
    folder: str

    def read_as(self, owner: str) -> Sequence[Ask]:
        """Return what is asked of a process; what was asked of one before it is forgotten.

        A process may end before it looks: the next one must not stop at once for that.
        """
        found = []
        for ask in self.read():
            if ask.of in ("", owner):
                found.append(ask)
            else:
                self.done(ask)
        return found

    def add(self, ask: Ask) -> None:
        """Ask something of the process that runs the job, or will."""
        self.file_io.write(self._path(ask), msgspec.json.encode(ask))

    def read(self) -> Sequence[Ask]:
        """Return what is asked, in that order."""
        found = []
        for name in self.file_io.list_names(self.folder):
            if not name.startswith(_ASKED):
                continue
            path = join(self.folder, name)
            try:
                found.append(msgspec.json.decode(self.file_io.read(path), type=ready(Ask)))
            except FileNotFoundError:
                continue
            except msgspec.DecodeError as error:
                logger.warning("%s is left alone: %s", path, error)
        return sorted(found, key=lambda ask: (ask.at_millis, ask.id))

    def done(self, ask: Ask) -> None:
        """Take note that something was done, or never will be."""
        self.file_io.delete(self._path(ask))

    def _path(self, ask: Ask) -> str:
        return join(self.folder, f"{_ASKED}{ask.id}")
