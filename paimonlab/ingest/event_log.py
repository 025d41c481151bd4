"""The log of a job in files: one per epoch in which something happened, folded when they are many.

A fold is written whole, under a number that only one process can create, and names the files whose
events it has. Readers pass those over, so it does not matter when they are deleted, or whether the
process is killed in between: nothing is lost, and nothing is told twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from paimonlab.errors import CorruptMetadataError
from paimonlab.spec.decoding import ready
from paimonlab.storage import LARGE_LIMIT_BYTES, FileIO, join

_EVENTS, _FOLD = "events-", "folded-events-"
MOST_EVENTS = 1000
"""Events that are kept, the newest."""
_MOST_FILES = 100
"""Files with events of one epoch, before they are folded into one."""
_ATTEMPTS = 5
"""Readings of the log while another process folds it."""


class JobEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to a job, for its log."""

    at_millis: int
    kind: str
    """``created``, ``altered``, ``schema``, ``stopped``, ``truncated``, ``dead``, ``lost`` …"""
    table: str | None
    """``database.table``, here or of the source; None: the job as a whole."""
    text: str
    position: Any = None
    """Of the source, as JSON has it."""
    before: tuple[str, ...] | None = None
    """Columns before a change of schema, as ``name TYPE``; None: unknown, or no such change."""
    after: tuple[str, ...] | None = None


class _Fold(msgspec.Struct, kw_only=True):
    files: list[str]
    """Files whose events it has; some of them may still be there."""
    events: list[JobEvent]


@dataclass(frozen=True, slots=True)
class EventLog:
    """The files of the log of one job."""

    file_io: FileIO
    folder: str

    def write(self, events: Sequence[JobEvent], number: int, owner: str) -> None:
        """Write what happened during an epoch."""
        path = join(self.folder, f"{_EVENTS}{number}.{owner}")
        self.file_io.replace(path, msgspec.json.encode(list(events)))

    def read(self) -> list[JobEvent]:
        """Return what is kept, oldest first.

        Raises
        ------
        CorruptMetadataError
            If a file is damaged.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            names = self.file_io.list_names(self.folder)
            try:
                return self._of(names)[0][-MOST_EVENTS:]
            except FileNotFoundError:
                if attempt == _ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def fold(self, names: Iterable[str]) -> None:
        """Fold the log into one file if it has become many.

        Parameters
        ----------
        names
            Files of the job's folder.
        """
        there = list(names)
        if sum(name.startswith(_EVENTS) for name in there) <= _MOST_FILES:
            return
        try:
            events, files = self._of(there)
        except FileNotFoundError:
            return  # another process folds it
        folds = sorted((name for name in there if name.startswith(_FOLD)), key=_fold_number)
        number = 1 + (_fold_number(folds[-1]) if folds else 0)
        data = msgspec.json.encode(_Fold(files=files, events=events[-MOST_EVENTS:]))
        if not self.file_io.publish(join(self.folder, f"{_FOLD}{number}"), data):
            return
        self.file_io.delete_files([join(self.folder, name) for name in (*files, *folds)])

    def _of(self, names: Sequence[str]) -> tuple[list[JobEvent], list[str]]:
        """Return all events, and the files that have those of single epochs."""
        folds = [name for name in names if name.startswith(_FOLD)]
        found: list[JobEvent] = []
        done: set[str] = set()
        if folds:
            fold = self._decoded(max(folds, key=_fold_number), _Fold)
            found, done = list(fold.events), set(fold.files)
        files = sorted((name for name in names if name.startswith(_EVENTS)), key=_number)
        for name in files:
            if name not in done:
                found += self._decoded(name, list[JobEvent])
        return found, files

    def _decoded(self, name: str, kind: Any) -> Any:
        path = join(self.folder, name)
        try:
            data = self.file_io.read(path, limit_bytes=LARGE_LIMIT_BYTES)
            return msgspec.json.decode(data, type=ready(kind))
        except msgspec.DecodeError as error:
            raise CorruptMetadataError(path, str(error)) from error


def _number(name: str) -> int:
    return _whole(name.removeprefix(_EVENTS).partition(".")[0])


def _fold_number(name: str) -> int:
    return _whole(name.removeprefix(_FOLD))


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() else 0
