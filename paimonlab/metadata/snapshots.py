"""The snapshots of a table.

Source: https://paimon.apache.org/docs/master/concepts/spec/snapshot/ and apache/paimon@1.3.1
``org.apache.paimon.utils.SnapshotManager``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, MutableSequence, Sequence
from datetime import UTC, datetime
from functools import partial
from time import sleep
from typing import Any, TypeVar

from paimonlab.errors import (
    CorruptMetadataError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
    TableNotFoundError,
)
from paimonlab.metadata.hints import numbered, read_hint, write_hint
from paimonlab.metadata.last_seen import oldest_snapshot_ids, snapshot_ids
from paimonlab.metadata.layout import GUARD_END, SNAPSHOT_PREFIX, TableLayout
from paimonlab.metadata.schemas import SchemaManager, gone_hint
from paimonlab.metadata.table_files import NumberedFiles
from paimonlab.spec.snapshot import FIRST_SNAPSHOT_ID, Snapshot
from paimonlab.storage import FileIO
from paimonlab.storage.schemes import store_kind
from paimonlab.storage.together import asked_together

T = TypeVar("T")
_MOST_AHEAD = 15
"""Snapshots that are read while the folder is listed: with the listing as many as are asked for at
the same time."""
_MOST_OVERTAKEN = 16
"""How often the newest snapshot may go before it is read."""
_LISTED_EVERY = 100
"""Commits after which the folder is listed again, to see whether ids are missing in it."""
_LONGEST_WALK = 100
"""Snapshots of others that are looked for one by one; if there are more, the folder is listed."""


_MOST_LANDED = 16
"""Own commits that are remembered."""
_LISTINGS = 3
"""Times that the folder is listed while others change it."""
_PAUSES_SECONDS = (0.01, 0.03, 0.08, 0.2)
"""Before a table is taken for damaged it is looked at again after each of these."""


class SnapshotManager(NumberedFiles[Snapshot], written="table.snapshots"):
    """Finds and reads snapshots.

    No snapshot is cached: a rollback may give an id to another one.
    """

    def __init__(
        self,
        file_io: FileIO,
        layout: TableLayout,
        *,
        table_name: str | None = None,
        schemas: SchemaManager | None = None,
    ) -> None:
        self._file_io = file_io
        self._layout = layout
        self._table = table_name or layout.table_path
        self._schemas = schemas
        self._whole_upto: int | None = None
        self._walks = 0
        self._is_steady = True
        """Whether the hint was as before when we looked last."""
        self._landed: dict[int, tuple[Snapshot, Snapshot | None]] = {}
        self._newest_own: Snapshot | None = None
        """Our last commit, as long as it was the latest whenever we looked."""
        self._checked: Snapshot | None = None
        """The newest one when it was last checked that the table is the same."""
        self._between: tuple[Snapshot | None, Snapshot | None, list[Snapshot]] = (None, None, [])

    def landed(self, snapshot: Snapshot, base: Snapshot | None) -> None:
        """Remember that a commit of this process landed, and what it was built upon.

        What a snapshot changed can then be told without reading it again; that it is still there
        cannot.
        """
        if base is None or (self._whole_upto is not None and self._whole_upto >= base.id):
            self._whole_upto = snapshot.id
        self._landed[snapshot.id] = (snapshot, base)
        snapshot_ids.put(self._layout.snapshot_folder, snapshot.id)
        if base is None:
            oldest_snapshot_ids.put(self._layout.snapshot_folder, snapshot.id)
        # Where others commit as well, looking for ours first would be in vain.
        self._newest_own = snapshot if base is None or self.is_own(base) else None
        for old in [*self._landed][:-_MOST_LANDED]:
            del self._landed[old]

    def is_own(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot is a recent commit of this process."""
        return self._landed.get(snapshot.id, (None, None))[0] == snapshot

    def newest_own(self) -> Snapshot | None:
        """Return this process's last commit if it was the latest whenever we looked.

        None on a disk, where a look takes no time. `latest` says whether it still is.
        """
        return self._newest_own if self._is_stored else None

    def may_follow(self, seen: Snapshot) -> bool:
        """Whether a commit may be tried upon what was the latest snapshot before, without a look.

        It may if it is a recent commit of this process or, in a store, if no id before it is
        missing. Not at every hundredth call: then the folder is to be listed.
        """
        self._walks += 1
        if self._walks >= _LISTED_EVERY:
            return False
        if self.is_own(seen):
            return True
        if not self._is_stored or not self._is_whole_upto(seen):
            return False
        self._whole_upto = seen.id
        return True

    def _is_whole_upto(self, seen: Snapshot) -> bool:
        """Whether no id is missing between the snapshot that was the newest and another one."""
        whole = self._whole_upto
        if whole is None or not 0 <= seen.id - whole <= _LONGEST_WALK:
            return False
        first, last, _ = self._between
        if first is not None and first.id <= whole and last == seen:
            return True  # those between were read
        ids = range(whole, seen.id)
        looks = [partial(self._is_there, snapshot_id) for snapshot_id in ids]
        return all(asked_together(self._layout.table_path, looks))

    def between(self, before: Snapshot, after: Snapshot) -> list[Snapshot]:
        """Return the snapshots after one, up to another and with it, oldest first.

        Those that this process committed are not read again: they follow what they were built upon.

        Raises
        ------
        SnapshotNotFoundError
            If one of them, or the first, is not there any more or is another one.
        """
        found: list[Snapshot] = []
        one: Snapshot | None = after
        while one is not None and one != before and one.id > before.id:
            if not self.is_own(one):
                break
            found.append(one)
            one = self._landed[one.id][1]
        if one == before:
            return found[::-1]
        if self._between[:2] == (before, after):  # several memories ask for the same
            return self._between[2]
        reads = [partial(self.get, number) for number in range(before.id, after.id)]
        first, *rest = asked_together(self._layout.table_path, reads) or [self.get(before.id)]
        if first != before:
            raise SnapshotNotFoundError(self._table, str(before.id), "It was rolled back.")
        found = [*rest, after][: after.id - before.id]
        self._between = (before, after, found)
        return found

    def latest(self) -> Snapshot | None:
        """Return the newest snapshot; None in a table that was never written to.

        Raises
        ------
        TableNotFoundError
            If there is neither a snapshot nor a schema, or another table has its folder: the table
            was dropped or renamed after it was opened, and must not look empty.
        """
        own, self._newest_own = self._newest_own, None
        if own is not None and self._unless_followed(own.id) == own:
            self._newest_own = own  # and as what expires goes lowest first, no later one has
            return own
        newest = self._hinted() or self._read_newest(self.latest_id)
        if newest is not None:
            snapshot_ids.put(self._layout.snapshot_folder, newest.id)
            self._check_same(newest)
        else:
            self.check_exists()
        return newest

    def check_exists(self) -> None:
        """Check that the table is there, by its schemas: for who finds nothing of it.

        Raises
        ------
        TableNotFoundError
            If it was dropped or renamed after it was opened, and must not look empty.
        """
        if self._schemas is not None and not self._schemas.ids():
            raise TableNotFoundError(self._table, hint=gone_hint(self._table))

    def _check_same(self, newest: Snapshot) -> None:
        """Check that a snapshot that was not seen before is of the table that was opened."""
        if self._schemas is not None and newest != self._checked:
            self._schemas.check_same()
            self._checked = newest

    def _hinted(self) -> Snapshot | None:
        """Read the snapshot that the hint names; None if it is not there or another follows.

        In a store the one that was the latest before is asked for at the same time.
        """
        folder = self._layout.snapshot_folder
        seen = snapshot_ids.get(folder) if self._is_stored else None
        if seen is None or not self._is_steady:
            hint = self._hint()
            self._is_steady = hint == seen
            return self._unless_followed(hint) if hint else None
        told, *answers = asked_together(
            folder, (self._hint, lambda: self._is_there(seen + 1), lambda: self._bytes_of(seen))
        )
        self._is_steady = told == seen
        if self._is_steady:
            is_followed, data = answers
            if is_followed or not isinstance(data, bytes):
                return None
            return self._decoded(seen, data)
        return self._unless_followed(told) if isinstance(told, int) and told else None

    def _hint(self) -> int | None:
        return read_hint(self._file_io, self._layout.latest_hint)

    def _unless_followed(self, snapshot_id: int) -> Snapshot | None:
        """Read a snapshot; None if it is not there, or another one follows it."""
        if self._is_stored:
            is_followed, data = asked_together(
                self._layout.table_path,
                (lambda: self._is_there(snapshot_id + 1), lambda: self._bytes_of(snapshot_id)),
            )
        else:
            is_followed = self._is_there(snapshot_id + 1)
            data = None if is_followed else self._bytes_of(snapshot_id)
        if is_followed or not isinstance(data, bytes):
            return None
        return self._decoded(snapshot_id, data)

    def _bytes_of(self, snapshot_id: int) -> bytes | None:
        try:
            return self._file_io.read(self._layout.snapshot(snapshot_id))
        except FileNotFoundError:
            return None

    @property
    def _is_stored(self) -> bool:
        """Whether the table is in a store, where each look is a request."""
        return store_kind(self._layout.table_path) is not None

    def latest_id(self) -> int | None:
        """Return the id of the newest snapshot; None in a table that was never written to.

        The hint counts when no snapshot follows it; else the folder is listed.

        Raises
        ------
        CorruptMetadataError
            If the hint names a snapshot that is gone and no newer one is there, for longer than
            others take to roll back or to commit.
        """
        return _looked_again(self._newest_id)

    def _newest_id(self) -> int | None:
        hint = read_hint(self._file_io, self._layout.latest_hint)
        if hint and not self._is_there(hint + 1) and self._is_there(hint):
            return hint
        ids = self.ids()
        self._check_hint(hint, ids)
        return ids[-1] if ids else None

    def latest_before_commit(self) -> Snapshot | None:
        """Return the newest snapshot; the next id is free.

        The folder is listed at first, and at every hundredth call; else we go on from the
        snapshot found last, one by one.

        Raises
        ------
        CorruptMetadataError
            If ids are missing between the oldest and the newest snapshot, for longer than others
            take to roll back: whatever was committed next might never be seen.
        """
        return self._read_newest(partial(_looked_again, self._newest_of_whole_chain))

    def _read_newest(self, find: Callable[[], int | None]) -> Snapshot | None:
        """Read the snapshot found, or another one if it went before it was read."""
        for _ in range(_MOST_OVERTAKEN):
            newest = find()
            with contextlib.suppress(SnapshotNotFoundError):
                return None if newest is None else self.get(newest)
            self._whole_upto = None
        newest = find()
        return None if newest is None else self.get(newest)

    def _newest_of_whole_chain(self) -> int | None:
        hint = read_hint(self._file_io, self._layout.latest_hint)
        newest = self._walked(hint)
        if newest is None:
            ids = self.ids()
            self._check_hint(hint, ids)
            if not ids:
                return None
            if ids[-1] - ids[0] + 1 != len(ids):
                self._check_holes(ids)
            newest, self._walks = ids[-1], 0
        self._whole_upto = newest
        return newest

    def _walked(self, hint: int | None) -> int | None:
        """Go on from the snapshot that was the newest; None: the folder must be listed."""
        newest = self._whole_upto
        self._walks += 1
        if newest is None or self._walks >= _LISTED_EVERY:
            return None
        if (hint is None or hint <= newest) and not self._is_there(newest + 1):
            return newest  # whether it is there is seen when it is read
        if not self._is_there(newest):
            return None  # after a rollback it may be gone
        for _ in range(_LONGEST_WALK):
            if not self._is_there(newest + 1):
                return None if hint is not None and hint > newest else newest
            newest += 1
        return None

    def earliest_id(self) -> int | None:
        """Return the id of the oldest snapshot; None in a table that was never written to."""
        hint = read_hint(self._file_io, self._layout.earliest_hint)
        if hint and self._is_there(hint):
            return hint
        ids = self.ids()
        return ids[0] if ids else None

    def ids(self) -> list[int]:
        """Return the ids of all snapshots, ascending, by listing the folder."""
        return numbered(self._file_io.list_names(self._layout.snapshot_folder), SNAPSHOT_PREFIX)

    def get(self, snapshot_id: int) -> Snapshot:
        """Read a snapshot.

        Raises
        ------
        SnapshotExpiredError
            If it is older than the oldest snapshot.
        SnapshotNotFoundError
            If there is no snapshot with that id.
        CorruptMetadataError
            If the file does not follow the format.
        """
        path = self._layout.snapshot(snapshot_id)
        try:
            data = self._file_io.read(path)
        except FileNotFoundError:
            raise self._not_found(snapshot_id) from None
        return self._decoded(snapshot_id, data)

    def _decoded(self, snapshot_id: int, data: bytes) -> Snapshot:
        path = self._layout.snapshot(snapshot_id)
        snapshot = Snapshot.from_json(data, path=path)
        if snapshot.id != snapshot_id:
            raise CorruptMetadataError(path, f"it says that it is snapshot {snapshot.id}")
        return snapshot

    def list(self, last: int | None = None) -> list[Snapshot]:
        """Read the snapshots, oldest first.

        Parameters
        ----------
        last
            At most this many of the newest; None: all.

        Raises
        ------
        TableNotFoundError
            If the table was dropped or renamed after it was opened.

        Notes
        -----
        Snapshots that expire while we read are left out.
        """
        return [*self.newest(last)[0]]

    def newest(self, last: int | None = None) -> tuple[Sequence[Snapshot], Sequence[int]]:
        """Read the newest snapshots, as `list` does, and return the ids of all as well.

        Parameters
        ----------
        last
            At most this many; None: all.
        """
        ids, read = self._listed_and_read(last)
        if not ids:
            self.check_exists()
        return self._those(ids if last is None else ids[max(len(ids) - last, 0) :], read), ids

    def _listed_and_read(self, last: int | None) -> tuple[Sequence[int], Mapping[int, bytes]]:
        """List the ids; in a store read those that were the newest before at the same time."""
        folder = self._layout.snapshot_folder
        oldest, newest = oldest_snapshot_ids.get(folder), snapshot_ids.get(folder)
        if not self._is_stored:
            return self.ids(), {}
        ahead = range(0)
        if oldest is not None and newest is not None:
            count = _MOST_AHEAD if last is None else min(last, _MOST_AHEAD)
            ahead = range(max(oldest, newest - count + 1), newest + 1)
        reads = (partial(self._bytes_of, snapshot_id) for snapshot_id in ahead)
        questions: tuple[Callable[[], Any], ...] = (self.ids, *reads)
        ids, *answers = asked_together(folder, questions)
        if ids:
            oldest_snapshot_ids.put(folder, ids[0])
            snapshot_ids.put(folder, ids[-1])
        read = {n: data for n, data in zip(ahead, answers, strict=True) if data is not None}
        return ids, read

    def those(self, ids: Sequence[int]) -> Sequence[Snapshot]:
        """Read some snapshots, in their order; those that are gone are left out.

        Parameters
        ----------
        ids
            Which; a store is asked for several at the same time.
        """
        return self._those(ids, {})

    def _those(self, ids: Sequence[int], read: Mapping[int, bytes]) -> Sequence[Snapshot]:
        """Read those that were not read just now."""
        missing = [snapshot_id for snapshot_id in ids if snapshot_id not in read]
        reads = [partial(self._bytes_of, snapshot_id) for snapshot_id in missing]
        data = dict(zip(missing, asked_together(self._layout.table_path, reads), strict=True))
        data.update(read)
        return [
            self._decoded(snapshot_id, found)
            for snapshot_id in ids
            if (found := data[snapshot_id]) is not None
        ]

    def at_or_before(self, millis: int) -> Snapshot:
        """Return the newest snapshot that was committed at or before a time.

        Parameters
        ----------
        millis
            Milliseconds since the epoch, UTC.

        Raises
        ------
        SnapshotNotFoundError
            If the oldest snapshot is newer, or the table has no snapshot.

        Notes
        -----
        A binary search, as commit times rise with ids: O(log s) files are read.
        """
        ids = self.ids()
        asked = f"at or before {_text(millis)}"
        if not ids:
            raise SnapshotNotFoundError(self._table, asked, "Nothing was written to it yet.")
        newest = None
        low, high = 0, len(ids)
        while low < high:
            middle = (low + high) // 2
            snapshot = self.get(ids[middle])
            if snapshot.time_millis <= millis:
                newest, low = snapshot, middle + 1
            else:
                high = middle
        if newest is None:
            earliest = self.get(ids[0])
            hint = f"The earliest is {earliest.id}, committed at {_text(earliest.time_millis)}."
            raise SnapshotNotFoundError(self._table, asked, hint)
        return newest

    def first_since(self, millis: int) -> Snapshot | None:
        """Return the first snapshot that was committed at or after a time.

        Parameters
        ----------
        millis
            Milliseconds since the epoch, UTC.

        Returns
        -------
        Snapshot or None
            None if no snapshot is that young, or if even the oldest one is: those before it may
            have expired.
        """
        ids = self.ids()
        if not ids or self.get(ids[0]).time_millis >= millis:
            return None
        low, high = 1, len(ids)
        while low < high:
            middle = (low + high) // 2
            if self.get(ids[middle]).time_millis < millis:
                low = middle + 1
            else:
                high = middle
        return self.get(ids[low]) if low < len(ids) else None

    def find(self, snapshot_id: int) -> Snapshot | None:
        """Read a snapshot; None if there is no snapshot with that id.

        Raises
        ------
        CorruptMetadataError
            If the file does not follow the format.
        """
        path = self._layout.snapshot(snapshot_id)
        try:
            return Snapshot.from_json(self._file_io.read(path), path=path)
        except FileNotFoundError:
            return None

    def still_has(self, snapshot: Snapshot) -> bool:
        """Whether an id still belongs to a snapshot: going back may give it to another one."""
        return self.find(snapshot.id) == snapshot

    def hinted_id(self) -> int | None:
        """Return the id in the hint of the newest snapshot; it may be out of date."""
        return read_hint(self._file_io, self._layout.latest_hint)

    def live_ids(self) -> Sequence[int]:
        """Return the ids of the snapshots, ascending, without those below the oldest one.

        Such strays are left by processes that died after they published a snapshot too late; nobody
        reads them.
        """
        ids = self.ids()
        earliest = read_hint(self._file_io, self._layout.earliest_hint)
        return (
            [snapshot_id for snapshot_id in ids if snapshot_id >= earliest]
            if earliest in ids
            else ids
        )

    def chain(self) -> tuple[Sequence[int], tuple[int, ...]]:
        """Return the ids of the table's snapshots, ascending, and those of strays below them.

        Raises
        ------
        CorruptMetadataError
            If ids are missing, and it is unclear which snapshots belong to the table.
        """
        return _looked_again(self._chain)

    def _chain(self) -> tuple[Sequence[int], tuple[int, ...]]:
        ids: Sequence[int] = ()
        first = 0
        strays: tuple[int, ...] = ()
        for _ in range(_LISTINGS):
            ids = self.ids()
            earliest = read_hint(self._file_io, self._layout.earliest_hint)
            known = set(ids)
            first = next(
                (snapshot_id for snapshot_id in reversed(ids) if snapshot_id - 1 not in known), 0
            )
            strays = tuple(snapshot_id for snapshot_id in ids if snapshot_id < first)
            if not strays or (earliest in ids and earliest >= first):
                return ids[len(strays) :], strays
            hinted = self.hinted_id()
            if hinted is None or hinted >= first:
                return ids, ()  # somebody deleted what is missing
        raise CorruptMetadataError(
            self._layout.snapshot_folder,
            f"snapshot {first - 1} is missing between {ids[0]} and {ids[-1]}, and the table is at "
            f"{strays[-1]}: a commit is being taken back, or its process died. In that case delete "
            "what is above, then let snapshots expire",
        )

    def oldest_live(self) -> Sequence[Snapshot]:
        """Return the oldest snapshot, in a list that is empty if the table was never written to."""
        for snapshot_id in self.live_ids():
            snapshot = self.find(snapshot_id)
            if snapshot is not None:
                return [snapshot]
        return []

    def write_latest_hint(self, snapshot_id: int) -> None:
        """Point the hint at a snapshot that was published, unless the table has moved on.

        The process may stall before it writes. A hint that names a deleted snapshot marks a
        damaged table once there is no newer snapshot, so the result is checked again.
        """
        # In a store these would be requests for what the check afterwards sees as well.
        if not self._is_stored:
            if self._is_there(snapshot_id + 1):
                return  # whoever published that one writes the hint
            if not self._is_there(snapshot_id):
                return
        self._point_hint(snapshot_id)

    def _point_hint(self, snapshot_id: int) -> None:
        """Write the hint again until it names the newest snapshot."""
        write_hint(self._file_io, self._layout.latest_hint, snapshot_id)
        while not self._is_newest(snapshot_id):
            ids = self.live_ids()
            if not ids:
                self._file_io.delete(self._layout.latest_hint)
                return
            if ids[-1] == snapshot_id:
                return
            snapshot_id = ids[-1]
            write_hint(self._file_io, self._layout.latest_hint, snapshot_id)

    def _is_newest(self, snapshot_id: int) -> bool:
        if not self._is_stored:
            return not self._is_there(snapshot_id + 1) and self._is_there(snapshot_id)
        is_followed, is_there = asked_together(
            self._layout.table_path,
            (lambda: self._is_there(snapshot_id + 1), lambda: self._is_there(snapshot_id)),
        )
        return is_there and not is_followed

    def mend_latest_hint(self) -> None:
        """Repair the hint if a rollback deleted the snapshot that it names."""
        hinted = self.hinted_id()
        ids = self.ids()
        if hinted is not None and ids and not self._is_there(hinted):
            self._point_hint(ids[-1])  # others may have gone back meanwhile

    def has(self, snapshot_id: int) -> bool:
        """Whether a snapshot exists."""
        return self._is_there(snapshot_id)

    def _is_there(self, snapshot_id: int) -> bool:
        return self._file_io.has_file(self._layout.snapshot(snapshot_id))

    def _not_found(self, snapshot_id: int) -> SnapshotNotFoundError:
        ids = self.ids()
        if not ids:
            return SnapshotNotFoundError(
                self._table, str(snapshot_id), "Nothing was written to it yet."
            )
        hint = f"Its snapshots are {ids[0]} to {ids[-1]}."
        if snapshot_id < FIRST_SNAPSHOT_ID:
            hint += " The newest is table.snapshot."
        if FIRST_SNAPSHOT_ID <= snapshot_id < ids[0]:
            return SnapshotExpiredError(self._table, str(snapshot_id), f"It has expired. {hint}")
        return SnapshotNotFoundError(self._table, str(snapshot_id), hint)

    def _check_hint(self, hint: int | None, ids: MutableSequence[int]) -> None:
        if hint is None or (ids and hint <= ids[-1]):
            return
        if self._is_there(hint):  # it was published after we listed
            ids.append(hint)
            return
        if self.hinted_id() != hint:
            return  # somebody went back while we listed
        newest = f"the newest snapshot is {ids[-1]}" if ids else "there is no snapshot"
        raise CorruptMetadataError(
            self._layout.latest_hint,
            f"it names snapshot {hint}, but {newest}: a committed snapshot was deleted. Restore "
            "it, or delete this hint to go on without it",
        )

    def _check_holes(self, ids: Sequence[int]) -> None:
        # A listing may miss what others publish or expire meanwhile, so look at each once more.
        known = set(ids)
        last = ids[-1]
        missing = [id for id in range(ids[0], last) if id not in known and not self._is_there(id)]
        earliest = self.earliest_id() or last
        holes = [str(id) for id in missing if id > earliest]
        if holes:
            raise CorruptMetadataError(
                self._layout.snapshot_folder,
                f"snapshot {', '.join(holes[:5])} is missing between {ids[0]} and {last}; "
                f"{self._remedy(int(holes[0]))} before you write",
            )

    def _remedy(self, snapshot_id: int) -> str:
        """Say how a snapshot comes back that is missing: who moved it aside may have died."""
        start = self._layout.guard_start(snapshot_id)
        for name in self._file_io.list_names(self._layout.tag_folder):
            if name.startswith(start) and name.endswith(GUARD_END):
                return f"move its copy {self._layout.tag_folder}/{name} back there"
        return "restore it"


def _looked_again(find: Callable[[], T]) -> T:
    """Find snapshots, after a pause once more if the table looks damaged.

    A rollback or a commit of others may have moved a snapshot aside for a moment, or written the
    hint a moment too late.
    """
    for seconds in _PAUSES_SECONDS:
        with contextlib.suppress(CorruptMetadataError):
            return find()
        sleep(seconds)
    return find()


def _text(millis: int) -> str:
    try:
        time = datetime.fromtimestamp(millis / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{millis} ms since the epoch"
    return time.isoformat(sep=" ", timespec="milliseconds")
