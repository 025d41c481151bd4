"""Which files of a scan DuckDB opens itself: as they are, or with a mask of the rows that count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.datafile.layout import MOVED_PREFIX
from paimonlab.read.lookups import rules_out_most
from paimonlab.read.mask_cache import shared_masks
from paimonlab.read.merging import key_predicate, masks_of
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split, within_partition
from paimonlab.read.streaming import in_threads
from paimonlab.scan.split import DataSplit
from paimonlab.spec.types.data_types import DataType
from paimonlab.sql_engine.kinds import is_atomic, kind_of
from paimonlab.sql_engine.merged_columns import MergedColumns
from paimonlab.storage import FileIO, LocalFileIO, ReadOnlyFileIO
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.scan_kinds import OfSnapshot

_PATTERN = frozenset("*?[]{}")
"""DuckDB reads these in a path as a pattern."""
_PREFIX = "data-file.prefix"
_OF_DUCKDB = frozenset({"file_row_number", "file_index", "filename"})
"""Columns that it adds to those of a file."""
MOST_FILES = 5_000
"""Files that DuckDB opens itself for one table; more are read here."""
MOST_MASKED_ROWS = 1 << 27
"""Of a table, as a bit each; more are read here."""
_FILES_A_GROUP = 64
"""Of which DuckDB finds the first row's bit for each row."""


@dataclass(frozen=True, slots=True)
class MaskedFiles:
    """Files of which only some rows count."""

    paths: tuple[str, ...]
    starts: tuple[int, ...]
    """Where the bits of each file begin."""
    bits: bytes = field(repr=False)
    """One for each row, the most significant bit of a byte first; each file begins a byte."""

    @property
    def row_count(self) -> int:
        """How many rows count."""
        return int.from_bytes(self.bits).bit_count()


class Division(Struct):
    """Who reads what of a scan."""

    plain: list[str] = []
    """Files that DuckDB reads as they are."""
    masked: list[MaskedFiles] = []
    """Files that DuckDB reads by masks."""
    rest: list[DataSplit] | None = None
    """Splits that are read here; None: the whole scan is."""
    kept: list[pa.Table] = []
    """Merged rows that are in memory."""
    plain_row_count: int = 0
    """Rows of the files that are read as they are."""

    @property
    def row_count(self) -> int | None:
        """How many rows there are; None if that is not known before they are read."""
        if self.rest is None or self.rest:
            return None
        in_memory = sum(rows.num_rows for rows in self.kept)
        return self.plain_row_count + in_memory + sum(files.row_count for files in self.masked)


_Masked: TypeAlias = tuple[str, int, bytes | None]
"""The path of a file, how many rows it has, and a bit for each; None: all count."""


def divided(scan: Scan, fields: Sequence[tuple[str, DataType]], columns: MergedColumns) -> Division:
    """Choose what DuckDB reads: local Parquet of the current schema, rows of no nested type.

    Rows that are merged here into others are read here; where merging only chooses rows, the
    masks that say which are found first, or known from another query.

    Parameters
    ----------
    scan
        Its columns and condition are those that are wanted.
    fields
        Names and types of its columns.
    columns
        Those of merged files that are in memory, or may be kept there.
    """
    names = [one.name.lower() for one in scan.schema.fields]
    plan = scan.read_plan()
    if not _is_for_duckdb(scan, fields) or plan.options.data_evolution:
        return Division()
    plain: list[str] = []
    plain_rows = 0
    rest: list[DataSplit] = []
    kept: list[pa.Table] = []
    finding: list[Callable[[], Iterator[list[_Masked]]]] = []
    seen: dict[str, bool] = {}
    masked_rows = 0 if _OF_DUCKDB.isdisjoint(names) else MOST_MASKED_ROWS
    file_count = 0
    splits = scan.plan().splits
    prefix = _prefix(scan, names=[name for name, _ in fields])
    merged = [one for one in splits if not one.raw_convertible]
    is_kept = bool(merged) and columns.room(merged, plan.fields)
    for split in splits:
        paths = _paths(split, scan.schema.id, plan, seen, prefix)
        file_count += len(paths or ())
        if paths is None or file_count > MOST_FILES:
            rest.append(split)
            continue
        if split.raw_convertible and not split.has_deletions:
            plain += paths
            plain_rows += sum(file.row_count for file in split.files)
            continue
        masked_rows += sum(file.row_count for file in split.files)
        wanted = within_partition(split, plan)
        if wanted is None:
            continue
        is_whole = _is_read_whole(split, wanted, scan.store.file_io)
        rows = None
        if is_kept and is_whole:
            rows = _in_memory(split, wanted, scan.store.file_io, columns)
        is_masked = is_whole and (split.raw_convertible or plan.engine.selects_rows)
        if rows is not None:
            kept.append(rows)
        elif masked_rows <= MOST_MASKED_ROWS and is_masked:
            finding.append(partial(_found, split, paths, wanted, scan.store.file_io))
        else:
            rest.append(split)
    found = [file for files in in_threads(finding) for file in files]
    whole = [(path, row_count) for path, row_count, bits in found if bits is None]
    masked = [(path, bits) for path, _, bits in found if bits is not None]
    begins = range(0, len(masked), _FILES_A_GROUP)
    groups = [_group(masked[begin : begin + _FILES_A_GROUP]) for begin in begins]
    plain += [path for path, _ in whole]
    return Division(plain, groups, rest, kept, plain_rows + sum(count for _, count in whole))


def _is_for_duckdb(scan: Scan, fields: Sequence[tuple[str, DataType]]) -> bool:
    store = scan.store.file_io
    while isinstance(store, ReadOnlyFileIO):
        store = store.store
    names = {one.name.lower() for one in scan.schema.fields}
    return (
        type(store) is LocalFileIO
        and isinstance(scan.kind, OfSnapshot)
        and all((kind := kind_of(kept)) is not None and is_atomic(kind) for _, kept in fields)
        and len(names) == len(scan.schema.fields)
    )


def _is_read_whole(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> bool:
    """Tell whether all rows of a split are best merged, whatever the condition is."""
    keys = key_predicate(plan)
    if keys is None or shared_masks.get(split, plan) is not None:
        return True
    return not rules_out_most(split, keys, plan, file_io)


def _in_memory(
    split: DataSplit, plan: ReadPlan, file_io: FileIO, columns: MergedColumns
) -> pa.Table | None:
    """Return all rows of merged files; None if they are not kept in memory."""

    def read(names: Sequence[str]) -> pa.Table:
        wanted = replace(plan, columns=tuple(names), predicate=None)
        return pa.Table.from_batches(read_split(split, wanted, file_io), wanted.arrow_schema)

    return None if split.raw_convertible else columns.of(split, plan, read)


def _found(
    split: DataSplit, paths: Sequence[str], plan: ReadPlan, file_io: FileIO
) -> Iterator[list[_Masked]]:
    """Yield the files of a split that have rows that count."""
    every = shared_masks.packed(split, plan, lambda: masks_of(split, plan, file_io))
    yield [
        (path, file.row_count, bits)
        for path, file, bits in zip(paths, split.files, every, strict=True)
        if bits is None or bits.count(0) < len(bits)
    ]


def _group(files: Sequence[tuple[str, bytes]]) -> MaskedFiles:
    starts, end = [], 0
    for _, bits in files:
        starts.append(end)
        end += 8 * len(bits)
    paths = tuple(path for path, _ in files)
    return MaskedFiles(paths, tuple(starts), b"".join(bits for _, bits in files))


def _prefix(scan: Scan, names: Sequence[str]) -> str:
    """Return how names of files begin that have the partition columns; "": it does not matter."""
    if scan.schema.primary_keys or not set(names) & set(scan.schema.partition_keys):
        return ""
    return scan.schema.options.get(_PREFIX, "data-")


def _is_written_here(name: str, prefix: str) -> bool:
    """Whether a file has the partition columns: those that were moved in do not.

    Java leaves them their names.
    """
    return name.startswith(prefix) and not name.startswith(MOVED_PREFIX)


def _paths(
    split: DataSplit, schema_id: int, plan: ReadPlan, seen: dict[str, bool], prefix: str
) -> list[str] | None:
    """Return the paths of a split's files; None if DuckDB is not to open one of them."""
    paths = []
    for file in split.files:
        path = plan.layout.data_file(split.bucket_path, file.file_name, file.external_path)
        folder = path.rpartition("/")[0]
        if folder not in seen:
            seen[folder] = str(Path(folder).resolve()) == folder and not _PATTERN & set(folder)
        is_plain = (
            file.schema_id == schema_id
            and file.file_name.endswith(".parquet")
            and (not prefix or _is_written_here(file.file_name, prefix))
            and file.external_path is None
            and file.first_row_id is None
            and seen[folder]
            and not _PATTERN & set(file.file_name)
            and not Path(path).is_symlink()
        )
        if not is_plain:
            return None
        paths.append(path)
    return paths
