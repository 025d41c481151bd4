"""Which files of a scan DuckDB opens itself: as they are, or with a mask of the rows that count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

from paimonlab.read.lookups import rules_out_most
from paimonlab.read.mask_cache import shared_masks
from paimonlab.read.merging import key_predicate, masks_of
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import within_partition
from paimonlab.read.streaming import in_threads
from paimonlab.scan.split import DataSplit
from paimonlab.spec.types.data_types import DataType
from paimonlab.sql_engine.kinds import is_atomic, kind_of
from paimonlab.storage import FileIO, LocalFileIO, ReadOnlyFileIO
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.scan_kinds import OfSnapshot

_PATTERN = frozenset("*?[]{}")
"""DuckDB reads these in a path as a pattern."""
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


@dataclass(slots=True)
class Division:
    """Who reads what of a scan."""

    plain: list[str] = field(default_factory=list)
    """Files that DuckDB reads as they are."""
    masked: list[MaskedFiles] = field(default_factory=list)
    """Files that DuckDB reads by masks."""
    rest: list[DataSplit] | None = None
    """Splits that are read here; None: the whole scan is."""


_Masked: TypeAlias = tuple[str, bytes]
"""The path of a file, and a bit for each of its rows."""


def divided(scan: Scan, fields: Sequence[tuple[str, DataType]]) -> Division:
    """Choose what DuckDB reads: local Parquet of the current schema, rows of no nested type.

    Rows that are merged here into others are read here; where merging only chooses rows, the
    masks that say which are found first, or known from another query.

    Parameters
    ----------
    scan
        Its columns and condition are those that are wanted.
    fields
        Names and types of its columns.
    """
    names = [one.name.lower() for one in scan.schema.fields]
    plan = scan.read_plan()
    if not _is_for_duckdb(scan, fields) or plan.options.data_evolution:
        return Division()
    plain: list[str] = []
    rest: list[DataSplit] = []
    finding: list[Callable[[], Iterator[list[_Masked]]]] = []
    seen: dict[str, bool] = {}
    masked_rows = 0 if _OF_DUCKDB.isdisjoint(names) else MOST_MASKED_ROWS
    file_count = 0
    for split in scan.plan().splits:
        paths = _paths(split, scan.schema.id, plan, seen)
        file_count += len(paths or ())
        if paths is None or file_count > MOST_FILES:
            rest.append(split)
            continue
        if split.raw_convertible and not split.has_deletions:
            plain += paths
            continue
        masked_rows += sum(file.row_count for file in split.files)
        wanted = within_partition(split, plan)
        if wanted is None:
            continue
        if masked_rows <= MOST_MASKED_ROWS and _is_masked(split, wanted, scan.store.file_io):
            finding.append(partial(_found, split, paths, wanted, scan.store.file_io))
        else:
            rest.append(split)
    masked = [file for found in in_threads(finding) for file in found]
    begins = range(0, len(masked), _FILES_A_GROUP)
    groups = [_group(masked[begin : begin + _FILES_A_GROUP]) for begin in begins]
    return Division(plain, groups, rest)


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


def _is_masked(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> bool:
    """Tell whether the rows of a split are best found by masks of all of them."""
    if not split.raw_convertible and not plan.engine.selects_rows:
        return False
    keys = key_predicate(plan)
    if keys is None or shared_masks.get(split, plan) is not None:
        return True
    return not rules_out_most(split, keys, plan, file_io)


def _found(
    split: DataSplit, paths: Sequence[str], plan: ReadPlan, file_io: FileIO
) -> Iterator[list[_Masked]]:
    """Yield the files of a split that have rows that count."""
    every = shared_masks.packed(split, plan, lambda: masks_of(split, plan, file_io))
    yield [
        (path, _all_ones(file.row_count) if bits is None else bits)
        for path, file, bits in zip(paths, split.files, every, strict=True)
        if bits is None or bits.count(0) < len(bits)
    ]


def _all_ones(row_count: int) -> bytes:
    """Return the bits of a file all of whose rows count."""
    return b"\xff" * -(-row_count // 8)


def _group(files: Sequence[_Masked]) -> MaskedFiles:
    starts, end = [], 0
    for _, bits in files:
        starts.append(end)
        end += 8 * len(bits)
    paths = tuple(path for path, _ in files)
    return MaskedFiles(paths, tuple(starts), b"".join(bits for _, bits in files))


def _paths(
    split: DataSplit, schema_id: int, plan: ReadPlan, seen: dict[str, bool]
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
