"""Replacing rows of a format table: one overwrite after another, each of them whole or not at all.

A folder has no commit, so that two overwrites at once would leave rows of both. They take turns.
The files of a turn are in the hidden folder ``_overwrites`` of the table:

- ``_N.begun`` is created if absent by the overwrite whose turn N is, and says which files it will
  show. Only then are the files listed that it replaces.
- ``_N.ended`` is the decision, created if absent too. When its new files are visible the overwrite
  decides that it is done, and which files have to be deleted. Another one that waited for it in
  vain decides that it is undone, deletes what it showed, and takes the next turn.

Whatever is decided can be finished by anyone, as often as they like: files are deleted by names
that are used once. So it does not matter whether an overwrite that stands still is dead: when it
goes on, the files that it would show are deleted, or the decision is taken, and it fails.

The last decisions are kept, so that numbers are not used again, and who decides late finds that it
was done before. Who is later than `_KEPT` turns learns nothing, and changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from paimonlab.errors import CorruptMetadataError, OverwriteConflictError
from paimonlab.spec.decoding import ready
from paimonlab.storage import LARGE_LIMIT_BYTES, FileIO
from paimonlab.storage.processes import began, may_run, this_machine
from paimonlab.table.format_tables.folders import files_below
from paimonlab.table.format_tables.writing import StagedFile, delete, discard, publish

FOLDER = "_overwrites"
"""The folder of the turns, in that of the table."""
PATIENCE_SECONDS = 60.0
"""How long an overwrite may stand still before another one goes ahead."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.02, 1.0
_NAME = re.compile(r"_([0-9]{1,18})\.(begun|ended)")
_KEPT = 20
"""How many decisions are kept."""
_going_on: set[str] = set()
"""Overwrites of this process that have not ended."""


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """An overwrite whose turn it is."""

    id: str
    """Used once."""
    machine: str
    process: int
    process_began: str
    shown: tuple[tuple[str, str], ...]
    """Of each new file the hidden name and the one that readers see, within the table."""

    def may_go_on(self) -> bool:
        """Whether its process may still run; of other machines nobody knows."""
        if self.machine != this_machine():
            return True
        if self.process == os.getpid():
            return self.id in _going_on
        return may_run(self.process, self.process_began)


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about an overwrite."""

    id: str
    """Of the overwrite."""
    by: str
    """Of the one that decided."""
    is_done: bool
    deleted: tuple[str, ...] = ()
    """The files that it replaced, within the table."""


_File = TypeVar("_File", Begun, Ended)


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of which there are files, by number."""

    begun: frozenset[int]
    ended: frozenset[int]

    @classmethod
    def of(cls, names: Iterable[str]) -> Turns:
        """Tell them by the names of files."""
        found: dict[str, set[int]] = {"begun": set(), "ended": set()}
        for name in names:
            if match := _NAME.fullmatch(name):
                found[match[2]].add(int(match[1]))
        return cls(frozenset(found["begun"]), frozenset(found["ended"]))

    @property
    def last(self) -> int:
        """The highest number; 0: there was no turn yet."""
        return max((*self.begun, *self.ended), default=0)


@dataclass(slots=True, kw_only=True)
class Replacement:
    """Takes a turn to replace rows of a table."""

    file_io: FileIO
    root: str
    """The folder of the table."""
    table: str
    staged: Sequence[StagedFile] = ()
    patience_seconds: float = field(default_factory=lambda: PATIENCE_SECONDS)
    _id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def run(self, folders: Callable[[], Iterable[str]]) -> None:
        """Show the new files, then delete those that were in folders before.

        Parameters
        ----------
        folders
            Names the folders whose files are replaced; called when no other overwrite goes on.

        Raises
        ------
        OverwriteConflictError
            If others went ahead since this one stood still: nothing of it is visible.
        CorruptMetadataError
            If a file cannot be deleted: rows are there twice until the next overwrite.
        """
        with self.turn() as turn:
            old = [one.path for folder in folders() for one in files_below(self.file_io, folder)]
            publish(self.file_io, self.staged, self.root)
            turn.end(old)

    @contextlib.contextmanager
    def turn(self) -> Iterator[Turn]:
        """Be the only one that replaces rows; what is not ended inside is undone.

        Raises
        ------
        OverwriteConflictError
            If others went ahead.
        """
        begun = Begun(
            id=self._id,
            machine=this_machine(),
            process=os.getpid(),
            process_began=began(os.getpid()),
            shown=tuple((self._within(one.hidden), self._within(one.path)) for one in self.staged),
        )
        _going_on.add(self._id)
        try:
            turn = Turn(self, self._taken(begun), begun)
            try:
                yield turn
            except Exception as error:
                if not turn.gave_up(error):
                    raise
            except BaseException:
                turn.gave_up()
                raise
        finally:
            _going_on.discard(self._id)

    def _taken(self, begun: Begun) -> int:
        """Wait for the turn; return its number."""
        data = msgspec.json.encode(begun)
        while True:
            turns = self.turns()
            if turns.last in turns.begun:
                self._settle(turns.last, is_ended=turns.last in turns.ended)
            number = turns.last + 1
            if not self.file_io.publish(self.path(number, "begun"), data):
                continue
            turns = self.turns()
            if turns.last > number or number in turns.ended:  # the listing was old
                self.file_io.delete(self.path(number, "begun"))
                continue
            for other in turns.begun - {number}:
                self.file_io.delete(self.path(other, "begun"))
            for other in turns.ended:
                if other <= number - _KEPT:
                    self.file_io.delete(self.path(other, "ended"))
            return number

    def _settle(self, number: int, *, is_ended: bool) -> None:
        """Finish the last turn of others, which is waited for if nothing is decided."""
        begun = self._read(self.path(number, "begun"), Begun)
        if begun is None or (not is_ended and self._is_ended_by_itself(number, begun)):
            return
        ended = self.decided(number, Ended(id=begun.id, by=self._id, is_done=False))
        if ended is not None:
            self.finish(number, begun, ended)

    def _is_ended_by_itself(self, number: int, begun: Begun) -> bool:
        """Wait for an overwrite; False if it stands still."""
        shown, pause = 0, _FIRST_PAUSE_SECONDS
        until = time.monotonic() + self.patience_seconds
        while begun.may_go_on() and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            if not self.file_io.has_file(self.path(number, "begun")):
                return True
            before = shown
            while shown < len(begun.shown) and not self._has(begun.shown[shown][0]):
                shown += 1
            if shown > before:
                until = time.monotonic() + self.patience_seconds
        return False

    def decided(self, number: int, wanted: Ended) -> Ended | None:
        """Decide about a turn if nobody did; return what is decided, None if nobody knows."""
        path = self.path(number, "ended")
        try:
            self.file_io.publish(path, msgspec.json.encode(wanted))
        except OSError:
            if self._read(path, Ended) is None:
                raise
        found = self._read(path, Ended)
        if self.turns().last < number + _KEPT:
            return found
        self.file_io.delete(path)
        return None

    def finish(self, number: int, begun: Begun, ended: Ended) -> None:
        """Do what was decided."""
        if ended.id == begun.id:  # else it is that of another one, which was late
            if ended.is_done:
                delete(self.file_io, [f"{self.root}/{one}" for one in ended.deleted])
            else:
                self._undo(begun)
        self.file_io.delete(self.path(number, "begun"))

    def _undo(self, begun: Begun) -> None:
        """Delete the files of an overwrite; the hidden ones first, which then cannot be shown."""
        hidden, shown = ([f"{self.root}/{one[at]}" for one in begun.shown] for at in (0, 1))
        folders = {path.rpartition("/")[0] for path in shown}
        discard(self.file_io, [*hidden, *shown], folders, self.root)

    def turns(self) -> Turns:
        """List the turns."""
        return Turns.of(self.file_io.list_names(f"{self.root}/{FOLDER}"))

    def waiting(self) -> set[str]:
        """Return the hidden files of overwrites that began, which the next turn settles."""
        read = (self._read(self.path(one, "begun"), Begun) for one in self.turns().begun)
        return {f"{self.root}/{hidden}" for begun in read if begun for hidden, _ in begun.shown}

    def path(self, number: int, kind: str) -> str:
        """Return the file of a turn."""
        return f"{self.root}/{FOLDER}/_{number}.{kind}"

    def _within(self, path: str) -> str:
        return path.removeprefix(f"{self.root}/")

    def _has(self, name: str) -> bool:
        return self.file_io.has_file(f"{self.root}/{name}")

    def _read(self, path: str, type_: type[_File]) -> _File | None:
        try:
            data = self.file_io.read(path, limit_bytes=LARGE_LIMIT_BYTES)
            return msgspec.json.decode(data, type=ready(type_))
        except FileNotFoundError:
            return None
        except msgspec.DecodeError as error:
            raise CorruptMetadataError(path, str(error)) from error


@dataclass(slots=True)
class Turn:
    """The turn of an overwrite."""

    replacement: Replacement
    number: int
    begun: Begun
    _is_over: bool = False

    def end(self, old: Iterable[str] = ()) -> None:
        """Decide that the overwrite is done, then delete the files that it replaces.

        Raises
        ------
        OverwriteConflictError
            If others went ahead.
        """
        root = f"{self.replacement.root}/"
        names = tuple(path.removeprefix(root) for path in old)
        ended = self._decided(is_done=True, deleted=names)
        self._is_over = True
        if ended is None or not ended.is_done:
            self._finish(ended)
            raise self._conflict(is_unknown=ended is None)
        self._finish(ended)

    def gave_up(self, error: Exception | None = None) -> bool:
        """Undo the overwrite after a failure; whether it was done all the same.

        Raises
        ------
        OverwriteConflictError
            If it failed since others undid it.
        """
        if self._is_over:
            return False
        ended = self._decided(is_done=False)
        self._finish(ended)
        if ended is None or (ended.by != self.begun.id and not ended.is_done):
            raise self._conflict(is_unknown=ended is None) from error
        return ended.is_done and isinstance(error, OSError)

    def _decided(self, *, is_done: bool, deleted: tuple[str, ...] = ()) -> Ended | None:
        own = self.begun.id
        wanted = Ended(id=own, by=own, is_done=is_done, deleted=deleted)
        return self.replacement.decided(self.number, wanted)

    def _finish(self, ended: Ended | None) -> None:
        if ended is not None:
            self.replacement.finish(self.number, self.begun, ended)

    def _conflict(self, *, is_unknown: bool) -> OverwriteConflictError:
        table, seconds = self.replacement.table, self.replacement.patience_seconds
        return OverwriteConflictError(table, round(seconds), is_unknown)
