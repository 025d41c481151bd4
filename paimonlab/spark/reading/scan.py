"""The files of a table at one snapshot, divided between Spark's Parquet scan and our reader.

The division is made once, over all files of the snapshot: so however the parts of a query are
pruned, each file belongs to exactly one part.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from paimonlab.read.placed import has_places
from paimonlab.read.read_plan import ReadOptions, ReadPlan
from paimonlab.scan.plan import Plan
from paimonlab.scan.split import DataSplit
from paimonlab.spark.reading.file_shape import FileShape, file_shape, too_precise
from paimonlab.spark.reading.masks import MASK_COLUMN
from paimonlab.spark.reading.s3_scan import OwnScheme
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import AlwaysTrue, Predicate, bind, columns
from paimonlab.spec.schema.row_tracking import TRACKING_COLUMNS, with_tracking
from paimonlab.storage.paths import is_plain
from paimonlab.table.plans.read import read_plan
from paimonlab.table.reading.scan import Scan

if TYPE_CHECKING:
    from paimonlab.spec.schema.definition import TableSchema

_KEPT_PLANS = 16
_PARQUET = ".parquet"
_Item = TypeVar("_Item")
_NAMES_OF_SPARK = frozenset({"_metadata", MASK_COLUMN})
"""A column of such a name would stand before what the test of the mask needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """What the Spark session allows its own Parquet scan to do."""

    masks: bool = True
    """Whether a mask costs nothing: not if rows are copied together with their mask."""
    cuts_timestamps: bool = False
    """Whether the user asked for TIMESTAMP(7-9) to be cut to microseconds."""
    pads_char: bool = True
    """Whether values of CHAR(n) are padded as they are read: Spark's rule, which can be off."""
    as_stored: bool = False
    """Whether values of CHAR(n) are wanted as they are stored, whatever Spark's rule says."""
    own_reader: bool = False
    """Whether our own reader reads all files."""
    why: str = ""
    """Why it does, where the store decides that."""
    is_remote: bool = False
    """Whether the table is in a store that Spark's own scan reads.

    Then files at places of their own may be in another store, and masks of files that overlap take
    keys, which the driver does not fetch: our reader merges such files on executors.
    """
    scheme: OwnScheme | None = None
    """Under which name Spark's own scan opens the files; None: under their own."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What part of a table a query is about."""

    rows: frozenset[int] | None = None
    """Numbers of partitions; None: all."""
    limit: int | None = None
    """Any files with so many rows are enough; None: all are needed."""
    files: frozenset[str] | None = None
    """Names of the files that are needed; None: all."""

    def within(self, other: Choice) -> Choice:
        """Return what is in both; the limit is the other's, if it has one."""
        return Choice(
            _common(self.rows, other.rows),
            self.limit if other.limit is None else other.limit,
            _common(self.files, other.files),
        )


def has_masks(split: DataSplit) -> bool:
    """Say whether files of a split may hold rows that are not rows of the table."""
    return not split.raw_convertible or split.has_deletions


class SnapshotScan:
    """The files of one snapshot, read as one schema; safe for threads."""

    def __init__(self, scan: Scan, abilities: Abilities) -> None:
        self.scan = scan
        self.abilities = abilities
        self._shapes: dict[int, FileShape | None] = {}
        self._one_of_each: dict[FileShape, FileShape] = {}
        self._pruned: OrderedDict[Predicate, frozenset[str]] = OrderedDict()
        self._folders: dict[str, str] = {}
        self._lock = threading.Lock()

    @cached_property
    def plan(self) -> Plan:
        """All files of the snapshot."""
        return self.scan.plan()

    @cached_property
    def shapes(self) -> tuple[FileShape, ...]:
        """The shapes of the files that Spark reads itself; of no files, that of none."""
        files = (file for split in self._native for file in split.files)
        one_of_each = {file.schema_id: file for file in files}.values()
        file_shapes = (self._shape(file) for file in one_of_each)
        shapes = tuple(dict.fromkeys(shape for shape in file_shapes if shape is not None))
        if shapes or self._arrow:
            return shapes
        schema = self.scan.schema
        identity = file_shape(schema, schema)
        return () if identity is None else (identity,)

    @cached_property
    def needs_arrow(self) -> bool:
        """Whether some files are read by our reader."""
        return bool(self._arrow)

    def needs_masks(self, shape: FileShape) -> bool:
        """Say whether some files of a shape hold rows that are not rows of the table."""
        return any(
            self._shape(file) is shape
            for split in self._native
            if has_masks(split)
            for file in split.files
        )

    @cached_property
    def are_placed(self) -> bool:
        """Whether each row that our reader reads is a row of one file."""
        return all(has_places(split, self.mask_plan) for split in self._arrow)

    def reads_all_files(self, predicate: Predicate) -> bool:
        """Say whether there are files, and a predicate rules none out."""
        count = sum(len(split.files) for split in self.plan.splits)
        is_nothing = isinstance(predicate, AlwaysTrue)
        return count > 0 and (is_nothing or len(self.names(predicate)) == count)

    def native_splits(self, shape: FileShape, predicate: Predicate) -> list[DataSplit]:
        """Return the splits with files of a shape, without files that the predicate rules out.

        A split keeps its files of other shapes: they have a say in who wins.
        """
        kept = self._kept(self._native, predicate)
        return [split for split in kept if any(self._shape(file) is shape for file in split.files)]

    def whole_split(self, split: DataSplit) -> DataSplit:
        """Return a split with all of its files, those included that a predicate rules out."""
        return self._whole[split.files[0].file_name]

    def files_of(self, split: DataSplit, shape: FileShape) -> list[DataFileMeta]:
        """Return the files of a split that belong to the scan of a shape."""
        ids = {file.schema_id for file in split.files}
        wanted = {schema_id for schema_id in ids if self._shape_in(schema_id) is shape}
        if wanted == ids:
            return [*split.files]
        return [file for file in split.files if file.schema_id in wanted]

    def has_shape(self, file: DataFileMeta, shape: FileShape) -> bool:
        """Say whether a file belongs to the scan of that shape."""
        return self._shape(file) is shape

    def arrow_splits(self, predicate: Predicate) -> list[DataSplit]:
        """Return the splits for our reader, without files that the predicate rules out."""
        return self._kept(self._arrow, predicate)

    def bound(self, predicate: Predicate) -> Predicate:
        """Return the predicate with constants of the columns' types."""
        return bind(predicate, self._schema_of(predicate).fields, self.scan.definition.name)

    def path(self, split: DataSplit, file: DataFileMeta) -> str:
        """Return where a file is; each folder is looked at once."""
        layout, name = self.scan.store.layout, file.file_name
        if file.external_path is not None or not is_plain(name):
            return layout.data_file(split.bucket_path, name, file.external_path)
        folder = self._folders.get(split.bucket_path)
        if folder is None:
            folder = layout.data_file(split.bucket_path, name).removesuffix(f"/{name}")
            self._folders[split.bucket_path] = folder
        return f"{folder}/{name}"

    @cached_property
    def mask_plan(self) -> ReadPlan:
        """What computing masks takes."""
        scan = self.scan
        return read_plan(scan.definition, scan.store, scan.schema, (), None, snapshot=scan.snapshot)

    @cached_property
    def size_bytes(self) -> int:
        """Size of all files."""
        return sum(split.size_bytes for split in self.plan.splits)

    @cached_property
    def _whole(self) -> dict[str, DataSplit]:
        return {file.file_name: split for split in self._native for file in split.files}

    @cached_property
    def _native(self) -> list[DataSplit]:
        return self._divided[0]

    @cached_property
    def _arrow(self) -> list[DataSplit]:
        return self._divided[1]

    @cached_property
    def _divided(self) -> tuple[list[DataSplit], list[DataSplit]]:
        """The splits that Spark reads and those that our reader reads.

        Files that overlap stay together; others go each its own way.
        """
        native, arrow = [], []
        for split in self.plan.splits:
            fit = split if self._fits(split) else split.with_files(self._is_native)
            can_mask = not has_masks(split) or self._can_mask(split)
            if len(fit.files) == len(split.files) and can_mask:
                native.append(split)
            elif not split.raw_convertible or not fit.files or not can_mask:
                arrow.append(split)
            else:
                native.append(fit)
                arrow.append(split.with_files(lambda file: not self._is_native(file)))
        return native, arrow

    def _can_mask(self, split: DataSplit) -> bool:
        shapes = {id(shape): shape for shape in map(self._shape, split.files)}.values()
        names = {column.file_name.lower() for shape in shapes for column in shape or ()}
        if self.abilities.is_remote and not split.raw_convertible:
            return False
        merges_columns = self.scan.definition.options.slice(ReadOptions).data_evolution
        if merges_columns or not (split.raw_convertible or self.mask_plan.engine.selects_rows):
            return False
        return self.abilities.masks and not names & _NAMES_OF_SPARK

    def _fits(self, split: DataSplit) -> bool:
        """Whether Spark reads all files of a split, if that is known without a closer look."""
        if self.abilities.own_reader:
            return False
        ids = {file.schema_id for file in split.files}
        return all(self._shape_in(schema_id) is not None for schema_id in ids) and all(
            file.write_cols is None and file.file_name.endswith(_PARQUET) and self._is_reached(file)
            for file in split.files
        )

    def _is_native(self, file: DataFileMeta) -> bool:
        return (
            not self.abilities.own_reader
            and file.file_name.endswith(_PARQUET)
            and self._is_reached(file)
            and self._shape(file) is not None
            and self._is_complete(file)
        )

    def _is_reached(self, file: DataFileMeta) -> bool:
        """Whether a file is where Spark is known to read."""
        return file.external_path is None or not self.abilities.is_remote

    def _is_complete(self, file: DataFileMeta) -> bool:
        """Whether a file has all columns that its schema has."""
        if file.write_cols is None:
            return True
        schema = self.scan.store.schemas.get(file.schema_id)
        return set(schema.field_names) <= set(file.write_cols)

    def _shape(self, file: DataFileMeta) -> FileShape | None:
        return self._shape_in(file.schema_id)

    def _shape_in(self, schema_id: int) -> FileShape | None:
        """Return the shape of the files that were written with a schema."""
        if schema_id not in self._shapes:
            self._shapes[schema_id] = self._shape_of_schema(schema_id)
        return self._shapes[schema_id]

    def _shape_of_schema(self, schema_id: int) -> FileShape | None:
        schema = self.scan.schema
        if too_precise(schema.fields) and not self.abilities.cuts_timestamps:
            return None  # our reader looks at the digits
        shape = file_shape(self.scan.store.schemas.get(schema_id), schema)
        # Equal shapes are one object, so that comparing them for each file costs nothing.
        return None if shape is None else self._one_of_each.setdefault(shape, shape)

    def _kept(self, splits: Iterable[DataSplit], predicate: Predicate) -> list[DataSplit]:
        if isinstance(predicate, AlwaysTrue):
            return list(splits)
        names = self.names(predicate)
        kept = []
        for split in splits:
            narrowed = split.with_files(lambda file: file.file_name in names)
            if narrowed.files:
                kept.append(split if len(narrowed.files) == len(split.files) else narrowed)
        return kept

    def _schema_of(self, predicate: Predicate) -> TableSchema:
        """Return the schema that has the columns of a predicate: ids of rows are in none."""
        schema = self.scan.schema
        return with_tracking(schema) if columns(predicate) & TRACKING_COLUMNS else schema

    def names(self, predicate: Predicate) -> frozenset[str]:
        """Names of the files that may hold rows of a predicate; they are unique in a table."""
        with self._lock:
            if predicate in self._pruned:
                self._pruned.move_to_end(predicate)
                return self._pruned[predicate]
        schema, bound = self._schema_of(predicate), self.bound(predicate)
        narrowed = replace(self.scan, schema=schema, predicate=bound)
        names = frozenset(
            file.file_name for split in narrowed.plan().splits for file in split.files
        )
        with self._lock:
            self._pruned[predicate] = names
            while len(self._pruned) > _KEPT_PLANS:
                self._pruned.popitem(last=False)
        return names


def _common(
    one: frozenset[_Item] | None, other: frozenset[_Item] | None
) -> frozenset[_Item] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
