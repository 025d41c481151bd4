"""Partitions of tables, as objects of a metastore: added after commits, dropped with them.

Or tags as partitions of a table that has none, so that Hive reads ``WHERE tag = '2026-01-01'``.

A commit or a tag is there before the metastore knows its partition: who is killed in between leaves
it behind, and `repair` mends that.

Source: apache/paimon@1.4.2 ``org.apache.paimon.metastore.AddPartitionCommitCallback``,
``AddPartitionTagCallback``, ``TagPreviewCommitCallback``, ``HiveCatalog.createPartitionsUtil``,
``HiveCatalog.dropPartitions``.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from msgspec import structs

from paimonlab import clock
from paimonlab.arrow_values import arrow_array
from paimonlab.catalog.hive.client import Metastore, MissingObjectError
from paimonlab.catalog.hive.objects import (
    TAG_PREVIEW,
    ObjectOptions,
    is_paimon,
    location_of,
    new_partition,
)
from paimonlab.maintenance.auto_tags import AutoTagOptions
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.manifests.manifest import FileKind, is_kind
from paimonlab.spec.partitions.folders import PartitionOptions, partition_path, partition_texts
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.store import TableStore
from paimonlab.table.table import Table

_AT_ONCE = 500
"""How many partitions one call adds."""


@dataclass(frozen=True, slots=True)
class _Partitions:
    """The partitions of one table in a metastore."""

    metastore: Metastore
    table: Table
    options: ObjectOptions

    def add(self, named: Sequence[tuple[list[str], str]]) -> None:
        """Add partitions, each by its values and its folder; those that are there stay."""
        if not named:
            return
        identifier = self._identifier
        table = self.metastore.table(identifier.database, identifier.table)
        location = None if table is None else location_of(table)
        if table is None or location is None or not is_paimon(table) or not table.partitionKeys:
            return  # it has no partitions there any more
        folder = definition_of(self.table).options.slice(PartitionOptions).data_directory
        root = f"{location}/{folder}" if folder else location
        now_seconds = int(time.time())
        objects = [
            new_partition(
                self.metastore,
                table,
                values,
                location=f"{root}/{path}",
                now_seconds=now_seconds,
                options=self.options,
            )
            for values, path in named
        ]
        for first in range(0, len(objects), _AT_ONCE):
            request = self.metastore.new(
                "AddPartitionsRequest",
                dbName=identifier.database,
                tblName=identifier.table,
                parts=objects[first : first + _AT_ONCE],
                ifNotExists=True,
                needResult=False,
            )
            # Those that are there are passed over, so this may be asked twice.
            self.metastore.ask("add_partitions_req", request)

    def drop_all(self) -> None:
        """Drop all partitions."""
        identifier = self._identifier
        self.drop(
            self.metastore.ask("get_partition_names", identifier.database, identifier.table, -1)
        )

    def drop(self, names: Sequence[str]) -> None:
        """Drop partitions, by their folders; those that are missing are passed over."""
        identifier = self._identifier
        for first in range(0, len(names), _AT_ONCE):
            some = list(names[first : first + _AT_ONCE])
            request = self.metastore.new(
                "DropPartitionsRequest",
                dbName=identifier.database,
                tblName=identifier.table,
                parts=self.metastore.new("RequestPartsSpec", names=some),
                deleteData=False,
                ifExists=True,
                needResult=False,
            )
            with contextlib.suppress(MissingObjectError):
                self.metastore.ask("drop_partitions_req", request)

    @property
    def _identifier(self) -> Identifier:
        return Identifier.parse(self.table.name)


@dataclass(frozen=True, slots=True)
class TagSync:
    """Tells a metastore which tags a table has, as partitions; called after each commit and tag."""

    metastore: Metastore
    table: Table
    """Without this callback."""
    options: ObjectOptions
    column: str
    """``metastore.tag-to-partition``: what the partition column is called."""

    def tag(self, name: str, snapshot_id: int | None) -> None:
        """Add the partition of a tag that was created; None: drop it."""
        if snapshot_id is None:
            self._objects.drop([self._folder(name)])
        else:
            self._add([name])

    def __call__(self, snapshot: Snapshot, changes: pa.Table) -> None:
        """Add the partition of the tag that is going to be made, if the table shows it ahead."""
        del changes
        mode = self.table.schema.options.get(TAG_PREVIEW, "none").lower()
        if mode not in ("process-time", "watermark"):
            return
        automatic = structs.replace(
            definition_of(self.table).options.slice(AutoTagOptions), mode=mode
        )
        at = automatic.time_of(structs.replace(snapshot, time_millis=clock.now_millis()))
        if at is not None:
            periods = automatic.periods
            self._add([periods.name(periods.before(at) + periods.length)])

    def add_all(self) -> None:
        """Add the partitions of all tags."""
        self._add([*self.table.tags.list()])

    def replace_all(self) -> None:
        """Make all partitions anew, as the table has moved."""
        self._objects.drop_all()
        self.add_all()

    def _add(self, tags: Sequence[str]) -> None:
        self._objects.add([([name], self._folder(name)) for name in tags])

    def _folder(self, tag: str) -> str:
        return partition_path([self.column], [tag]).rstrip("/")

    @property
    def _objects(self) -> _Partitions:
        return _Partitions(self.metastore, self.table, self.options)


@dataclass(frozen=True, slots=True)
class PartitionSync:
    """Tells a metastore which partitions a table has; called after each commit."""

    metastore: Metastore
    table: Table
    """Without this callback."""
    options: ObjectOptions

    def __call__(self, snapshot: Snapshot, changes: pa.Table) -> None:
        """Add the partitions that got files, and drop those that have none any more."""
        del snapshot
        added = set(changes.filter(is_kind(changes, FileKind.ADD))["partition"].to_pylist())
        deleted = set(changes.filter(is_kind(changes, FileKind.DELETE))["partition"].to_pylist())
        self.add(added)
        if gone := deleted - added:
            self.drop(gone - self._with_files())

    def add_all(self) -> None:
        """Add all partitions that the main branch has."""
        self.add(_partitions_of(store_of(self.table)))

    def add(self, partitions: Iterable[bytes]) -> None:
        """Add partitions; those that are there stay as they are."""
        self._objects.add(self._named(partitions))

    def drop(self, partitions: Iterable[bytes]) -> None:
        """Drop partitions; their files are none of the metastore's."""
        self._objects.drop([path for _, path in self._named(partitions)])

    def replace_all(self) -> None:
        """Make all partitions anew, as the table has moved."""
        self._objects.drop_all()
        self.add_all()

    def _with_files(self) -> set[bytes]:
        """Return the partitions that the table has on any of its branches."""
        branches = [self.table.on_branch(name) for name in self.table.branches.list()]
        return set().union(*(_partitions_of(store_of(one)) for one in (self.table, *branches)))

    def _named(self, partitions: Iterable[bytes]) -> list[tuple[list[str], str]]:
        """Return the values of partitions, and their folders below that of the data."""
        rows = sorted(partitions)
        if not rows:
            return []
        fields = definition_of(self.table).partition_fields
        types = [field.type for field in fields]
        names = [field.name for field in fields]
        options = self._partition_options
        columns = decode(arrow_array(rows, pa.large_binary()), types)
        return [
            (
                [
                    options.default_name if text is None or not text.strip() else text
                    for text in texts
                ],
                partition_path(names, texts, options.default_name).rstrip("/"),
            )
            for texts in partition_texts(columns, types, options)
        ]

    @property
    def _objects(self) -> _Partitions:
        return _Partitions(self.metastore, self.table, self.options)

    @property
    def _partition_options(self) -> PartitionOptions:
        return definition_of(self.table).options.slice(PartitionOptions)


def _partitions_of(store: TableStore) -> set[bytes]:
    """Return the partitions with files in the latest snapshot, as serialised rows."""
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return set()
    return set(live_entries(snapshot, store.manifests)["partition"].unique().to_pylist())
