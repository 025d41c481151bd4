"""What became of one row: its values, files and levels from snapshot to snapshot."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import pyarrow as pa
from msgspec import Struct

from paimonlab.errors import (
    ArgumentError,
    ColumnNotFoundError,
    SchemaError,
    SnapshotNotFoundError,
    UnsupportedError,
)
from paimonlab.interrupts import whole_module
from paimonlab.progress import Progress
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.plurals import many
from paimonlab.spec.predicates.binding import bind
from paimonlab.spec.predicates.examples import example
from paimonlab.spec.predicates.predicate import Predicate, all_of, col
from paimonlab.spec.predicates.sql import parse_predicate
from paimonlab.spec.predicates.walking import columns as columns_of
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import FIRST_SNAPSHOT_ID, Snapshot, Tag
from paimonlab.storage.together import both
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.query import Query, scan_of
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.scan_kinds import OfSnapshot
from paimonlab.table.reading.time_travel import TravelPoint
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    import pandas as pd

Key: TypeAlias = "Mapping[str, Any] | str | Predicate"
"""What finds one row: values of columns, or a condition."""
What: TypeAlias = Literal[
    "inserted", "updated", "deleted", "rewritten", "unchanged", "absent", "present"
]

_FILE = pa.struct([("name", pa.string()), ("level", pa.int32()), ("bucket_path", pa.string())])


class RowFile(Struct, frozen=True, kw_only=True):
    """A data file that a read of the row opens."""

    name: str
    """Without its folder."""
    level: int
    bucket_path: str
    """Folder of its bucket, relative to the table."""


class RowVersion(Struct, frozen=True, kw_only=True, eq=False):
    """What one snapshot did to the row, or those before it that were not read."""

    snapshot: Snapshot
    tags: tuple[str, ...]
    """Names of the tags of this snapshot."""
    what: What
    """``rewritten``: the same values, in other files; ``unchanged``, of a snapshot with a tag;
    ``absent``, of a tag without the row; ``present``: it is there in the oldest snapshot that was
    read, and which one inserted it is not known."""
    earliest_id: int
    """Id of the earliest snapshot that may have done it, the one after that which was read before;
    that of ``snapshot`` where none between them is missing, or nothing was done."""
    left_out_count: int
    """Snapshots from ``earliest_id`` on that are there and were not read; others that are missing
    have expired, or are older than this branch."""
    row: pa.Table | None
    """The row after it, with the columns that the table has today; None: there is none."""
    changed: tuple[str, ...]
    """Columns whose values are not as before, bit by bit."""
    files: tuple[RowFile, ...]
    """Those that may have it; () if there is no row."""

    def __repr__(self) -> str:
        changed = f" ({', '.join(self.changed)})" if self.changed else ""
        where = where_done(self.snapshot.id, self.earliest_id, is_present=self.what == "present")
        why = why_unknown(self.snapshot.id - self.earliest_id, self.left_out_count)
        return f"<RowVersion: {self.what}{changed} {where}{why and ': '}{why}>"


def where_done(snapshot_id: int, earliest_id: int, *, is_present: bool) -> str:
    """Say which snapshot did something to a row, as far as it is known.

    Parameters
    ----------
    snapshot_id, earliest_id
        As of a `RowVersion`.
    is_present
        Whether it is only known that the row was there by then.

    Examples
    --------
    >>> where_done(5, 5, is_present=False), where_done(5, 3, is_present=False)
    ('in snapshot 5', 'between snapshots 2 and 5')
    >>> where_done(5, 1, is_present=True)
    'since snapshot 5 or before'
    """
    if is_present:
        return f"since snapshot {snapshot_id} or before"
    if earliest_id == snapshot_id:
        return f"in snapshot {snapshot_id}"
    return f"between snapshots {earliest_id - 1} and {snapshot_id}"


def why_unknown(missing_count: int, left_out_count: int) -> str:
    """Say why it is not known which snapshot it was; empty if it is.

    Parameters
    ----------
    missing_count
        Snapshots between the two that were read.
    left_out_count
        How many of them are there.

    Examples
    --------
    >>> why_unknown(0, 0), why_unknown(4, 4), why_unknown(4, 0)
    ('', '4 older snapshots were not read', '4 older snapshots are not kept')
    >>> why_unknown(4, 1)
    '1 older snapshot was not read, and 3 are not kept'
    """
    gone = missing_count - left_out_count
    said = []
    if left_out_count:
        were = "was" if left_out_count == 1 else "were"
        said = [f"{many(left_out_count, 'older snapshot')} {were} not read"]
    if gone:
        are = "is" if gone == 1 else "are"
        what = f"{gone:,}" if said else many(gone, "older snapshot")
        said += [f"{what} {are} not kept"]
    return ", and ".join(said)


class RowHistory(Sequence[RowVersion]):
    """What became of one row, oldest first: ``table.history({"id": 5})``.

    Examples
    --------
    ::

        for version in table.history({"id": 5}):
            print(version.snapshot.id, version.what, version.changed)
    """

    def __init__(
        self,
        table: str,
        where: str,
        schema: TableSchema,
        versions: Sequence[RowVersion],
        *,
        read_count: int,
        left_out_count: int,
    ) -> None:
        self.table = table
        self.where = where
        """The condition that finds the row."""
        self.schema = schema
        """Of the table, whose columns the rows have."""
        self._versions = tuple(versions)
        self.read_count = read_count
        """Snapshots that were read."""
        self.left_out_count = left_out_count
        """Older snapshots that were not."""

    @overload
    def __getitem__(self, at: int) -> RowVersion: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[RowVersion, ...]: ...
    def __getitem__(self, at: int | slice) -> RowVersion | tuple[RowVersion, ...]:
        return self._versions[at]

    def __len__(self) -> int:
        return len(self._versions)

    def __iter__(self) -> Iterator[RowVersion]:
        return iter(self._versions)

    def __repr__(self) -> str:
        read = f"{many(self.read_count, 'snapshot')} read"
        left_out = f", {self.left_out_count:,} older left out" if self.left_out_count else ""
        shown = "\n".join(f"  {version!r}" for version in self._versions[-20:])
        return f"RowHistory of {self.table} where {self.where}: {read}{left_out}\n{shown}".rstrip()

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of `to_arrow`."""
        return pa.schema(
            [
                pa.field("snapshot_id", pa.int64(), nullable=False),
                pa.field("commit_kind", pa.string(), nullable=False),
                pa.field("commit_time", pa.timestamp("ms", "UTC"), nullable=False),
                pa.field("tags", pa.list_(pa.string()), nullable=False),
                pa.field("what", pa.string(), nullable=False),
                pa.field("earliest_snapshot_id", pa.int64(), nullable=False),
                pa.field("changed", pa.list_(pa.string()), nullable=False),
                pa.field("files", pa.list_(_FILE), nullable=False),
                pa.field("row", pa.struct(list(self.schema.arrow_schema))),
            ]
        )

    def to_arrow(self) -> pa.Table:
        """Return a row for each version; ``row`` is a struct of the table's columns, or null."""
        schema = self.arrow_schema
        versions = self._versions
        files = [
            [{"name": f.name, "level": f.level, "bucket_path": f.bucket_path} for f in one.files]
            for one in versions
        ]
        columns = [
            [one.snapshot.id for one in versions],
            [one.snapshot.commit_kind.value for one in versions],
            [one.snapshot.time_millis for one in versions],
            [list(one.tags) for one in versions],
            [one.what for one in versions],
            [one.earliest_id for one in versions],
            [list(one.changed) for one in versions],
            files,
        ]
        arrays: list[pa.Array | pa.ChunkedArray] = [
            pa.array(values, field.type) for values, field in zip(columns, schema, strict=False)
        ]
        arrays.append(self._rows(schema.field("row").type))
        return pa.Table.from_arrays(arrays, schema=schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return `to_arrow` as a frame of pandas."""
        whole_module("pandas")  # which pyarrow imports
        return self.to_arrow().to_pandas()

    def _rows(self, struct_type: pa.StructType) -> pa.Array:
        found = [one.row for one in self._versions if one.row is not None]
        if not found:
            return pa.nulls(len(self._versions), struct_type)
        rows = pa.concat_tables(found).combine_chunks()
        structs = pa.StructArray.from_arrays(
            [column.combine_chunks() for column in rows.columns], fields=list(struct_type)
        )
        places = iter(range(len(found)))
        at = [None if one.row is None else next(places) for one in self._versions]
        return structs.take(pa.array(at, pa.int64()))


def row_history(
    definition: TableDefinition,
    store: TableStore,
    key: Key,
    *,
    last: int | None,
    progress: Progress | None,
) -> RowHistory:
    """Read one row at every snapshot; see `Table.history`."""
    if last is not None and last < 1:
        raise ValueError(f"last must be at least 1, got {last}")
    predicate, where = _condition(definition, key)
    listed, (newest, ids) = both(
        store.layout.table_path, store.tags.list, lambda: store.snapshots.newest(last)
    )
    tags = dict(listed)
    names: dict[int, list[str]] = {}
    for name in sorted(tags):
        names.setdefault(tags[name].id, []).append(name)
    by_id = {snapshot.id: snapshot for snapshot in (*tags.values(), *newest)}
    reader = _Reader(definition, store, predicate, where)
    versions: list[RowVersion] = []
    before: pa.Table | None = None
    files: tuple[RowFile, ...] = ()
    read_count = 0
    left_out = sorted({*ids} - {*by_id})
    earliest_id = FIRST_SNAPSHOT_ID
    for done, id in enumerate(sorted(by_id), 1):
        try:
            after, now = reader.read(by_id[id], names.get(id, []))
        except SnapshotNotFoundError:
            continue  # it expired meanwhile
        read_count += 1
        what, changed = _step(before, after, definition.schema, has_moved=now != files)
        if what == "inserted" and read_count == 1 and id > FIRST_SNAPSHOT_ID:
            what = "present"  # an older one may have inserted it
        is_done = what not in {"absent", "unchanged"}
        since = earliest_id if is_done else id
        if id in names or is_done:
            versions.append(
                RowVersion(
                    snapshot=by_id[id],
                    tags=tuple(names.get(id, ())),
                    what=what,
                    earliest_id=since,
                    left_out_count=bisect_left(left_out, id) - bisect_left(left_out, since),
                    row=after,
                    changed=changed,
                    files=() if after is None else now,
                )
            )
        before, files, earliest_id = after, now, id + 1
        if progress is not None:
            progress(done, len(by_id), "snapshots")
    return RowHistory(
        definition.name,
        where,
        definition.schema,
        versions,
        read_count=read_count,
        left_out_count=len(left_out),
    )


def _condition(definition: TableDefinition, key: Key) -> tuple[Predicate, str]:
    """Return the bound condition and its text; refuse what is not a condition on the key."""
    schema = definition.schema
    fields = {field.name: field.type for field in schema.fields}
    wanted = schema.primary_keys or schema.field_names[:1]
    by_key = " AND ".join(example(name, fields[name]) for name in wanted)
    advice = f"\na row is found by a condition such as {by_key}"
    if isinstance(key, Mapping):
        _check_values(definition, key)
        parts = [
            col(name).is_null() if value is None else col(name) == value
            for name, value in key.items()
        ]
        key = all_of(*parts)
    if not isinstance(key, str | Predicate):
        raise TypeError(
            f"a row is found by values of columns, as in {{'id': 5}}, or by a condition, got "
            f"{type(key).__name__}"
        )
    try:
        unbound = parse_predicate(key) if isinstance(key, str) else key
        predicate = bind(unbound, schema.fields, definition.name)
    except SchemaError as error:
        raise SchemaError(f"{error}{'' if by_key in str(error) else advice}") from None
    except UnsupportedError as error:
        raise UnsupportedError(error.feature, f"{error.reason}{advice}") from None
    others = columns_of(predicate) - set(schema.primary_keys)
    if schema.primary_keys and others:
        raise UnsupportedError(
            f"the life of a row of {definition.name} found by {', '.join(sorted(others))}",
            f"give the primary key: {by_key}",
        )
    return predicate, str(key)


def _check_values(definition: TableDefinition, key: Mapping[str, Any]) -> None:
    schema = definition.schema
    for name in key:
        if name not in schema.field_names:
            raise ColumnNotFoundError(definition.name, name, schema.field_names)
    missing = [name for name in schema.primary_keys if name not in key]
    if missing or not key:
        wanted = ", ".join(missing or schema.field_names[:1])
        raise ArgumentError("the life of a row", f"{definition.name}: give {wanted} as well")
    for name, value in key.items():
        if isinstance(value, list | tuple | set | dict):
            problem = f"{definition.name}: {name} is one value, not {type(value).__name__}"
            raise ArgumentError("the life of a row", problem)


def _step(
    before: pa.Table | None, after: pa.Table | None, schema: TableSchema, *, has_moved: bool
) -> tuple[What, tuple[str, ...]]:
    """Say what became of a row, and which of its columns are others."""
    if after is None:
        return ("absent" if before is None else "deleted"), ()
    if before is None:
        return "inserted", ()
    both = pa.concat_tables([before, after]).combine_chunks()
    changed = tuple(field.name for field in schema.fields if _differs(both, field.name, field.type))
    if changed:
        return "updated", changed
    return ("rewritten" if has_moved else "unchanged"), ()


def _differs(both: pa.Table, name: str, data_type: Any) -> bool:
    old, new = encode([both.column(name).combine_chunks()], [data_type]).to_pylist()
    return bool(old != new)


class _Reader:
    """Reads one row at any point; rows are read only where files or vectors are others."""

    def __init__(
        self, definition: TableDefinition, store: TableStore, predicate: Predicate, where: str
    ) -> None:
        self._definition = definition
        self._store = store
        self._predicate = predicate
        self._where = where
        self._files: Any = None
        self._row: pa.Table | None = None

    def read(
        self, snapshot: Snapshot, tags: Sequence[str]
    ) -> tuple[pa.Table | None, tuple[RowFile, ...]]:
        """Return the row, None if there is none, and the files that a read of it opens."""
        scan = self._scan(snapshot, tags)
        splits = scan.plan().splits
        files = [(split.bucket_path, split.files, split.deletion_files) for split in splits]
        if files != self._files:
            self._files, self._row = files, self._found(scan)
        shown = tuple(
            RowFile(name=file.file_name, level=file.level, bucket_path=split.bucket_path)
            for split in splits
            for file in split.files
        )
        return self._row, shown

    def _scan(self, snapshot: Snapshot, tags: Sequence[str]) -> Scan:
        """Prepare the read of a snapshot with the columns and types of today."""
        is_of_tag = isinstance(snapshot, Tag) and bool(tags)
        point = TravelPoint(tag=tags[0]) if is_of_tag else TravelPoint(snapshot=snapshot.id)
        query = Query(point=point, known=snapshot)
        scan = scan_of(self._definition, self._store, query)
        if not isinstance(scan.kind, OfSnapshot):
            option = f"scan.fallback-branch = '{self._definition.options['scan.fallback-branch']}'"
            raise UnsupportedError(option, f"the life of a row of {self._definition.name}")
        schema = self._definition.schema
        # Two rows are enough to tell that it is not one; the limit leaves the plan as it is.
        return replace(
            scan,
            schema=schema,
            columns=schema.field_names,
            predicate=self._predicate,
            row_limit=2,
        )

    def _found(self, scan: Scan) -> pa.Table | None:
        found = scan.to_arrow()
        if found.num_rows > 1:
            keys = self._definition.schema.primary_keys
            key = f", whose key is {', '.join(keys)}" if keys else ""
            raise ArgumentError(
                "the life of a row",
                f"{self._where} finds several rows of {self._definition.name}{key}",
            )
        return found if found.num_rows else None
