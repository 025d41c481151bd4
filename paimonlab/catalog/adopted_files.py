"""Files that Paimon did not write, as the metadata of the table that takes them over has them.

Source: apache/paimon@1.4.2 ``org.apache.paimon.migrate.FileMetaUtils``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.catalog.folder_files import FolderFile
from paimonlab.datafile.written_file import local_time_millis
from paimonlab.errors import SchemaError
from paimonlab.formats.data_format import open_input
from paimonlab.formats.open_file import OpenFile
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import EMPTY_ROW, DataFileMeta, FileSource, SimpleStats
from paimonlab.spec.predicates.predicate import ColumnStats
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot
from paimonlab.spec.types.text import format_type
from paimonlab.storage import FileIO, join
from paimonlab.table.inside import definition_of, store_of

if TYPE_CHECKING:
    from paimonlab.table.table import Table

_FLOATS = (AtomicType(TypeRoot.FLOAT), AtomicType(TypeRoot.DOUBLE))


class PlannedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a migration."""

    source: str
    target: str
    """Relative to the table."""
    partition: tuple[str | None, ...]
    """Texts of the values of the partition columns."""
    size_bytes: int
    row_count: int


def partition_values(table: Table, files: Sequence[PlannedFile]) -> list[list[pa.Scalar]]:
    """Return the values of partitions, a list per file."""
    return [list(row) for row in zip(*partition_columns(table, files), strict=True)]


def partition_columns(
    table: Table, files: Sequence[PlannedFile] | Sequence[FolderFile]
) -> list[pa.Array]:
    """Return the values of partitions, an array per column with a value per file."""
    columns = []
    for number, field in enumerate(definition_of(table).partition_fields):
        texts = arrow_array([file.partition[number] for file in files], pa.string())
        try:
            columns.append(texts.cast(to_arrow(field.type)))
        except pa.ArrowException as error:
            raise SchemaError(
                f"{table.name}: a folder's value of {field.name!r} is not "
                f"{format_type(field.type)}: {error}; give its type in partition_types"
            ) from error
    return columns


def messages_of(
    table: Table, files: Sequence[PlannedFile], metas: Sequence[DataFileMeta]
) -> list[CommitMessage]:
    """Return what adds files to a table where they are by now, a message per partition."""
    partitions = [EMPTY_ROW] * len(files)
    if table.partition_keys:
        types = [field.type for field in definition_of(table).partition_fields]
        partitions = encode(partition_columns(table, files), types).to_pylist()
    by_partition = dict[bytes, list[DataFileMeta]]()
    for partition, meta in zip(partitions, metas, strict=True):
        by_partition.setdefault(partition, []).append(meta)
    return [
        CommitMessage(partition=partition, bucket=0, total_buckets=-1, new_files=tuple(new))
        for partition, new in by_partition.items()
    ]


@dataclass(frozen=True, slots=True)
class FileDescriber:
    """Describes files by their footers, at their new places; picklable."""

    file_io: FileIO
    """The table's store."""
    table_path: str
    schema_id: int
    fields: Sequence[DataField]
    """Of which there may be statistics."""

    @classmethod
    def of(cls, table: Table) -> FileDescriber:
        """Make one for the files of a table."""
        store = store_of(table)
        fields = [
            field
            for field in table.schema.fields
            if isinstance(field.type, AtomicType) and field.name not in table.partition_keys
        ]
        return cls(store.file_io, store.layout.table_path, table.schema.id, fields)

    def __call__(self, file: PlannedFile) -> DataFileMeta:
        """Describe one."""
        path = join(self.table_path, file.target)
        opened = open_input(self.file_io, path, expected_rows=file.row_count)
        try:
            groups = opened.group_stats(self.fields) if isinstance(opened, OpenFile) else {}
            stats, names = _stats(groups, self.fields, file.row_count)
        finally:
            opened.close()
        return DataFileMeta(
            file_name=path.rpartition("/")[2],
            file_size_bytes=file.size_bytes,
            row_count=file.row_count,
            value_stats=stats,
            value_stats_cols=names,
            min_sequence_number=0,
            max_sequence_number=0,
            schema_id=self.schema_id,
            creation_time_millis=local_time_millis(),
            delete_row_count=0,
            file_source=FileSource.APPEND,
        )


def _stats(
    groups: Mapping[str, ColumnStats], fields: Sequence[DataField], row_count: int
) -> tuple[SimpleStats, tuple[str, ...]]:
    """Join the statistics of the parts of a file, without columns of which not all is known."""
    known, lows, highs, counts = list[DataField](), list[pa.Array](), list[pa.Array](), list[int]()
    for field in fields:
        one = groups.get(field.name)
        is_float = field.type in _FLOATS
        if one is None or is_float:
            continue  # footers say nothing of NaN
        nulls, rows = one.null_count.to_pylist(), one.row_count.to_pylist()
        mins, maxs = one.min.to_pylist(), one.max.to_pylist()
        is_known = all(
            count is not None and (count == total or (low is not None and high is not None))
            for count, total, low, high in zip(nulls, rows, mins, maxs, strict=True)
        )
        if not is_known or sum(rows) != row_count:
            continue
        known.append(field)
        lows.append(_extreme([low for low in mins if low is not None], min, field))
        highs.append(_extreme([high for high in maxs if high is not None], max, field))
        counts.append(sum(nulls))
    if not known:
        return SimpleStats(), ()
    types = [field.type for field in known]
    stats = SimpleStats(
        encode(lows, types)[0].as_py(), encode(highs, types)[0].as_py(), tuple(counts)
    )
    return stats, tuple(field.name for field in known)


def _extreme(values: Sequence[Any], pick: Any, field: DataField) -> pa.Array:
    kind = to_arrow(field.type)
    return arrow_array([pick(values)] if values else [None], kind)
