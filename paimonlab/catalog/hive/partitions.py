"""Partitions of tables, as objects of a metastore: added after commits, dropped with them.

A commit is there before the metastore knows its partitions: who is killed in between leaves it
behind, and `repair` mends that.

Source: apache/paimon@1.4.2 ``org.apache.paimon.metastore.AddPartitionCommitCallback``,
``HiveCatalog.createPartitionsUtil``, ``HiveCatalog.dropPartitions``.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.catalog.hive.client import Metastore, MissingObjectError
from paimonlab.catalog.hive.objects import (
    ObjectOptions,
    is_paimon,
    location_of,
    new_partition,
)
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
        named = self._named(partitions)
        if not named:
            return
        identifier = self._identifier
        table = self.metastore.table(identifier.database, identifier.table)
        location = None if table is None else location_of(table)
        if table is None or location is None or not is_paimon(table) or not table.partitionKeys:
            return  # it has no partitions there any more
        folder = self._partition_options.data_directory
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

    def drop(self, partitions: Iterable[bytes]) -> None:
        """Drop partitions; their files are none of the metastore's."""
        self._drop_named([path for _, path in self._named(partitions)])

    def replace_all(self) -> None:
        """Make all partitions anew, as the table has moved."""
        identifier = self._identifier
        names = self.metastore.ask("get_partition_names", identifier.database, identifier.table, -1)
        self._drop_named(names)
        self.add_all()

    def _drop_named(self, names: Sequence[str]) -> None:
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
    def _identifier(self) -> Identifier:
        return Identifier.parse(self.table.name)

    @property
    def _partition_options(self) -> PartitionOptions:
        return definition_of(self.table).options.slice(PartitionOptions)


def _partitions_of(store: TableStore) -> set[bytes]:
    """Return the partitions with files in the latest snapshot, as serialised rows."""
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return set()
    return set(live_entries(snapshot, store.manifests)["partition"].unique().to_pylist())
