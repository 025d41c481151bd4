"""What a follower looks at and reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from paimonlab.errors import (
    CorruptError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
    UnsupportedError,
)
from paimonlab.read.changed_rows import change_schema
from paimonlab.read.pieces import Piece, fingerprint, read_pieces
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.change_splits import ChangeRequest, ChangeSplit
from paimonlab.scan.changed_files import ChangeKind, commit_changes
from paimonlab.scan.following import Act, FollowRules, Position, Seen
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.overwrites import overwrite_changes
from paimonlab.scan.plan import ScanRequest, plan
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.store import TableStore


@dataclass
class ChangeSource:
    """A table, the columns and rows of it that are followed."""

    definition: TableDefinition
    store: TableStore
    schema: TableSchema
    """The schema the rows have, whatever the table's becomes."""
    columns: tuple[str, ...]
    predicate: Predicate | None
    """Bound to ``schema``."""
    rules: FollowRules
    min_level: int
    """The level from which on files make up the rows of a snapshot; see `first_level`."""
    _plans: dict[int, ReadPlan] = field(default_factory=dict)
    """By the schema that files may have at most; holds one."""

    @property
    def arrow_schema(self) -> pa.Schema:
        """``rowkind``, then the columns."""
        return change_schema(self.read_plan(None))

    def look(self, position: Position, now_millis: int) -> Seen:
        """See what there is at a position."""
        if position.snapshot_id == 0:
            return Seen(now_millis=now_millis, latest_id=self.store.snapshots.latest_id())
        snapshot = self._find(position)
        latest_id = None
        if snapshot is None:
            # In this order, a snapshot that is published meanwhile is not taken for a lost one.
            latest_id = self.store.snapshots.latest_id()
            snapshot = self._find(position)
        previous = None if position.is_inside else self._at(position.snapshot_id - 1)
        return Seen(
            now_millis=now_millis, snapshot=snapshot, previous=previous, latest_id=latest_id
        )

    def has_news(self, position: Position) -> bool:
        """Whether the snapshot is there that a follower waits for; costs less than `look`."""
        snapshots = self.store.snapshots
        if position.snapshot_id == 0:
            return snapshots.latest_id() is not None
        return snapshots.has(position.snapshot_id)

    def pieces(self, act: Act, seen: Seen, position: Position) -> Iterator[tuple[Piece, Position]]:
        """Read the rest of a snapshot, each piece with the position after it.

        Raises
        ------
        SnapshotExpiredError
            If the snapshot expires meanwhile.
        ValueError
            If the position lies inside of a snapshot and belongs to another condition.
        """
        snapshot = seen.snapshot
        assert snapshot is not None, "there is something to read"
        try:
            splits = self.splits(act, snapshot, position)
            reading = self.read_plan(snapshot)
            told = fingerprint(splits, reading)
            if position.is_inside and position.plan != told:
                raise ValueError(
                    f"the position is inside of snapshot {snapshot.id} of {self.definition.name}, "
                    "read with another condition or other options; go on with the same ones"
                )
            for piece in read_pieces(
                splits, reading, self.store.file_io, split=position.split, done=position.rows
            ):
                behind = position.within(
                    snapshot.delta_manifest_list, told, piece.split, piece.done
                )
                yield piece, behind
        except CorruptError as error:
            self._explain(error, act, snapshot)
            raise

    def _find(self, position: Position) -> Snapshot | None:
        if not position.is_full:
            return self._at(position.snapshot_id)
        try:
            return self.store.snapshots.get(position.snapshot_id)
        except SnapshotNotFoundError:
            return None

    def _at(self, snapshot_id: int) -> Snapshot | None:
        if snapshot_id < 1:
            return None
        try:
            return self.store.snapshot_or_changelog(snapshot_id)
        except SnapshotNotFoundError:
            return None

    def splits(self, act: Act, snapshot: Snapshot, position: Position) -> list[ChangeSplit]:
        """Find the files with all that is to be read of a snapshot, in an order that stays."""
        definition, store = self.definition, self.store
        if act is Act.STATE:
            return self._state(snapshot, position)
        request = ChangeRequest(
            schema=self.schema,
            predicate=self.predicate,
            options=definition.options.slice(ScanOptions),
            created_since_millis=position.created_since_millis,
        )
        before = self._at(snapshot.id - 1)
        if act is Act.OVERWRITE:
            return overwrite_changes(before, snapshot, request, store.schemas, store.manifests)
        kind = ChangeKind.CHANGELOG if self.rules.reads_changelog else ChangeKind.DELTA
        splits = commit_changes(snapshot, kind, request, store.schemas, store.manifests)
        if request.options.data_evolution:
            _refuse_new_columns(splits, before, definition.name)
        return splits

    def _state(self, snapshot: Snapshot, position: Position) -> list[ChangeSplit]:
        request = ScanRequest(
            snapshot=snapshot,
            predicate=self.predicate,
            min_level=self.min_level if self.schema.primary_keys else None,
            created_since_millis=position.created_since_millis,
        )
        definition, store = self.definition, self.store
        planned = plan(
            request,
            schema=self.schema,
            schemas=store.schemas,
            manifests=store.manifests,
            options=definition.options.slice(ScanOptions),
            table=definition.name,
        )
        return [ChangeSplit(after=split, is_state=True) for split in planned.splits]

    def read_plan(self, snapshot: Snapshot | None) -> ReadPlan:
        """Return how files of a snapshot and those before are read; None: of the newest schema."""
        newest = self.schema.id if snapshot is None else max(self.schema.id, snapshot.schema_id)
        if newest not in self._plans:
            made = read_plan(
                self.definition,
                self.store,
                self.schema,
                self.columns,
                self.predicate,
                snapshot=snapshot,
            )
            self._plans = {newest: made}
        return self._plans[newest]

    def _explain(self, error: CorruptError, act: Act, snapshot: Snapshot) -> None:
        """Tell a file that expired while it was to be read from one that is damaged.

        Files that an overwrite took away go with the snapshot before it.
        """
        if not isinstance(error.__cause__, FileNotFoundError):
            return
        needed = [snapshot.id, snapshot.id - 1] if act is Act.OVERWRITE else [snapshot.id]
        for snapshot_id in needed:
            if snapshot_id and not self.store.snapshots.has(snapshot_id):
                raise SnapshotExpiredError(
                    self.definition.name,
                    str(snapshot_id),
                    f"It expired before all of it was read, and with it {error.path}. Keep "
                    "snapshots longer ('snapshot.time-retained'), or follow with a consumer_id.",
                ) from error


def _refuse_new_columns(splits: list[ChangeSplit], before: Snapshot | None, table: str) -> None:
    """Refuse files that give older rows new values: they do not hold whole rows."""
    first_new = 0 if before is None else before.next_row_id or 0
    for split in splits:
        for file in split.after.files if split.after is not None else ():
            if file.first_row_id is None or file.first_row_id < first_new:
                raise UnsupportedError(
                    "data-evolution.enabled = 'true'",
                    f"{table} cannot be followed over {file.file_name}, which gives columns of "
                    "older rows new values",
                )
