"""Tables for tests of metadata: files are named in manifests, but hold nothing."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from paimonlab.commit.committer import Committer
from paimonlab.commit.options import CommitOptions
from paimonlab.commit.publisher import RenamelessPublisher
from paimonlab.formats.manifests.entry_rows import entries_to_table
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifest_cache import ManifestCache
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.live_files import live_entries
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.plan import Plan, ScanRequest, plan
from paimonlab.spec.binary_row import rows as binary_row
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import EMPTY_ROW, DataFileMeta, SimpleStats
from paimonlab.spec.manifests.manifest import FileKind, ManifestEntry
from paimonlab.spec.predicates.predicate import Predicate, bind
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot
from paimonlab.storage import FileIO, LocalFileIO

STRING = AtomicType(TypeRoot.VARCHAR, length=2**31 - 1)
INT = AtomicType(TypeRoot.INT)
UNSYNCED = LocalFileIO(durability="none")


def row(values: Sequence[object], fields: Sequence[DataField]) -> bytes:
    """Serialise one row."""
    scalars = [
        pa.scalar(value, to_arrow(field.type)) for value, field in zip(values, fields, strict=True)
    ]
    return binary_row.encode_one(scalars, [field.type for field in fields])


def text_row(value: str) -> bytes:
    """Serialise a row of one text: the partition of a table partitioned by a STRING."""
    return binary_row.encode_one([pa.scalar(value)], [STRING])


def data_file(name: str, **fields: Any) -> DataFileMeta:
    """Describe a file of ten rows, without statistics if none are given."""
    given: dict[str, Any] = {
        "file_size_bytes": 1000,
        "row_count": 10,
        "min_sequence_number": 0,
        "max_sequence_number": 9,
        "schema_id": 0,
        "creation_time_millis": 1_700_000_000_000,
        "delete_row_count": 0,
        "file_source": 0,
        "value_stats_cols": None if "value_stats" in fields else (),
    }
    return DataFileMeta(file_name=name, **(given | fields))


def entry(name: str, kind: FileKind = FileKind.ADD, **fields: Any) -> ManifestEntry:
    """Make an entry of an unpartitioned append table."""
    of_entry = {
        "partition": fields.pop("partition", EMPTY_ROW),
        "bucket": fields.pop("bucket", 0),
        "total_buckets": fields.pop("total_buckets", -1),
    }
    return ManifestEntry(kind=kind, file=data_file(name, **fields), **of_entry)


def drawn_entries(drawing: str) -> pa.Table:
    """Make entries of a drawing: ``+a -b@2[3..7] +c:p/4`` adds a, deletes b of level 2 with keys
    from 3 to 7, and adds c to partition p, of 4 buckets.
    """
    return entries_to_table([_drawn(word) for word in drawing.split()])


def draw_entries(entries: pa.Table) -> str:
    """Draw entries as `drawn_entries` reads them."""
    return " ".join(
        ("+" if one["kind"] == FileKind.ADD else "-")
        + one["file_name"]
        + (f"@{one['level']}" if one["level"] else "")
        for one in entries.to_pylist()
    )


def _drawn(word: str) -> ManifestEntry:
    kind = {"+": FileKind.ADD, "-": FileKind.DELETE}[word[0]]
    rest, _, total = word[1:].partition("/")
    rest, _, partition = rest.partition(":")
    rest, _, keys = rest.partition("[")
    name, _, level = rest.partition("@")
    low, high = keys.removesuffix("]").split("..") if keys else ("0", "0")
    return entry(
        name,
        kind,
        level=int(level or 0),
        partition=text_row(partition) if partition else EMPTY_ROW,
        total_buckets=int(total or 1),
        min_key=binary_row.encode_one([pa.scalar(int(low), pa.int32())], [INT]),
        max_key=binary_row.encode_one([pa.scalar(int(high), pa.int32())], [INT]),
    )


@dataclass
class SmallTable:
    """A table whose data files do not exist."""

    path: Path
    file_io: FileIO = UNSYNCED
    columns: Mapping[str, str] = field(default_factory=lambda: {"id": "BIGINT", "v": "STRING"})
    partition_keys: Sequence[str] = ()
    primary_keys: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    commit_options: CommitOptions = field(default_factory=CommitOptions)

    def create(self) -> SmallTable:
        """Publish the first schema."""
        definition = Schema(
            self.columns,
            partition_keys=self.partition_keys,
            primary_keys=self.primary_keys,
            options=self.options,
        )
        assert SchemaManager(UNSYNCED, self.layout).publish(
            new_table_schema(definition, time_millis=0)
        )
        return self

    @property
    def layout(self) -> TableLayout:
        return TableLayout(str(self.path))

    @property
    def schemas(self) -> SchemaManager:
        return SchemaManager(self.file_io, self.layout)

    @property
    def schema(self) -> TableSchema:
        found = self.schemas.latest()
        assert found is not None
        return found

    @property
    def snapshots(self) -> SnapshotManager:
        return SnapshotManager(self.file_io, self.layout)

    @property
    def manifests(self) -> ManifestStore:
        return ManifestStore(self.file_io, self.layout, cache=ManifestCache(1 << 20))

    @property
    def committer(self) -> Committer:
        return Committer(
            "db.t",
            self.file_io,
            self.layout,
            snapshots=self.snapshots,
            manifests=self.manifests,
            schemas=self.schemas,
            publisher=RenamelessPublisher(self.file_io, self.layout),
            options=self.commit_options,
        )

    def message(self, *names: str, partition: bytes = EMPTY_ROW, **fields: Any) -> CommitMessage:
        """Describe files of one bucket."""
        total = fields.pop("total_buckets", -1)
        return CommitMessage(
            partition=partition,
            bucket=fields.pop("bucket", 0),
            total_buckets=total,
            new_files=tuple(data_file(name, **fields) for name in names),
        )

    def append(self, *names: str, **fields: Any) -> Snapshot:
        """Commit files of one bucket as a new user."""
        snapshot = self.committer.append(
            [self.message(*names, **fields)], user=str(uuid.uuid4()), identifier=1
        )
        assert snapshot is not None
        return snapshot

    def rewrite_latest(self, **fields: object) -> None:
        """Change the newest snapshot, as another program might have written it."""
        latest = self.snapshots.latest()
        assert latest is not None
        values = {name: getattr(latest, name) for name in Snapshot.__struct_fields__} | fields
        UNSYNCED.replace(self.layout.snapshot(latest.id), Snapshot(**values).to_json())

    def live_names(self, snapshot: Snapshot | None = None) -> list[str]:
        """Return the names of the files that are alive, sorted."""
        snapshot = snapshot or self.snapshots.latest()
        if snapshot is None:
            return []
        return sorted(live_entries(snapshot, self.manifests)["file_name"].to_pylist())

    def plan(
        self,
        where: Predicate | None = None,
        *,
        options: ScanOptions = ScanOptions(),  # noqa: B008 - frozen
        **request: Any,
    ) -> Plan:
        """Plan a read of the latest snapshot."""
        predicate = None if where is None else bind(where, self.schema.fields, "db.t")
        return plan(
            ScanRequest(snapshot=self.snapshots.latest(), predicate=predicate, **request),
            self.schema,
            self.schemas,
            self.manifests,
            options,
        )

    def stats(self, low: Sequence[object], high: Sequence[object], nulls: Iterable[int]) -> Any:
        """Make statistics over all columns."""
        fields = self.schema.fields
        return SimpleStats(row(low, fields), row(high, fields), tuple(nulls))

    def key_range(self, low: Sequence[object], high: Sequence[object]) -> dict[str, Any]:
        """Return the fields of a file that say which keys it holds."""
        fields = [self.schema.field(name) for name in self.schema.trimmed_primary_keys]
        first, last = row(low, fields), row(high, fields)
        stats = SimpleStats(first, last, (0,) * len(fields))
        return {"min_key": first, "max_key": last, "key_stats": stats}

    def metadata_files(self) -> list[str]:
        """Return all files of the table, relative to it, but not its schemas and hints."""
        found = (file.relative_to(self.path) for file in self.path.rglob("*") if file.is_file())
        return sorted(
            str(file)
            for file in found
            if file.parts[0] != "schema" and file.name not in {"LATEST", "EARLIEST"}
        )

    def referenced_files(self) -> list[str]:
        """Return all metadata files that snapshots refer to, and the snapshots."""
        found = set()
        for snapshot in self.snapshots.list():
            found.add(f"snapshot/snapshot-{snapshot.id}")
            if snapshot.index_manifest:
                found.add(f"manifest/{snapshot.index_manifest}")
            if snapshot.statistics:
                found.add(f"statistics/{snapshot.statistics}")
            lists = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
            if snapshot.changelog_manifest_list:
                lists.append(snapshot.changelog_manifest_list)
            for name in lists:
                found.add(f"manifest/{name}")
                metas = self.manifests.read_list(name)
                found |= {f"manifest/{meta.file_name}" for meta in metas}
        return sorted(found)
