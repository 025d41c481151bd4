"""Spark's `FileIndex` in Python: which files a native Parquet scan reads, and their masks."""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import types as st

from paimonlab.scan.split import DataSplit
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.file_failures import remember_folder
from paimonlab.spark.reading.constants import Texts, partition_schema, partition_texts
from paimonlab.spark.reading.executor_places import uri_of
from paimonlab.spark.reading.file_shape import FileShape
from paimonlab.spark.reading.filters import is_float, source_filters, to_predicate
from paimonlab.spark.reading.full_scans import check_full_scan
from paimonlab.spark.reading.listing import Directory, ListedFiles, Listing, are_plain
from paimonlab.spark.reading.mask_source import SplitMasks, is_cached, masks_of
from paimonlab.spark.reading.masks import MASK_SCHEMA
from paimonlab.spark.reading.padded_filters import padded_predicate
from paimonlab.spark.reading.pinned import PinnedRead
from paimonlab.spark.reading.places import FILE_SCHEMA, file_texts
from paimonlab.spark.reading.relation_schema import undeclared
from paimonlab.spark.reading.s3_scan import in_scheme
from paimonlab.spark.reading.scan import Choice, SnapshotScan, has_masks
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import AlwaysTrue, Predicate, all_of

_DATASOURCES = "org.apache.spark.sql.execution.datasources."
_KEPT_LISTINGS = 2
_KEPT_CHOICES = 16
_KEPT_MASK_BYTES = 1 << 20
"""Listings with larger masks are created anew for each query, or the JVM would fill with them."""


_EVERYTHING = Choice()


class SnapshotFileIndex(PinnedRead):
    """The files of one shape at one snapshot.

    Spark never tests filters on partition columns again: they are tested here, by Spark's own
    expressions, on the values of each partition. Filters on data columns are tested again: here
    they only prune.
    """

    class Java:
        """py4j's list of interfaces."""

        implements = [_DATASOURCES + "FileIndex"]  # noqa: RUF012

    def __init__(
        self,
        bridge: Bridge,
        snapshot: SnapshotScan,
        shape: FileShape,
        choice: Choice = _EVERYTHING,
        *,
        of_files: bool = False,
    ) -> None:
        super().__init__(bridge, snapshot)
        self._of_files = of_files
        self._shape = shape
        self._choice = choice
        self._masked = snapshot.needs_masks(shape)
        definition, store = snapshot.scan.definition, snapshot.scan.store
        folder = uri_of(store.layout.table_path)
        remember_folder(in_scheme(folder, snapshot.abilities.scheme), definition.name, folder)
        self._names = {
            column.file_name: column.name for column in shape if column.is_compared_alike
        }
        self._floats = frozenset(column.name for column in shape if is_float(column.file_type))
        self._listings: OrderedDict[tuple[Predicate, frozenset[int] | None], Any] = OrderedDict()
        self._narrower: OrderedDict[Choice, SnapshotFileIndex] = OrderedDict()
        self._lock = threading.Lock()

    def rootPaths(self) -> Any:
        """Return the table's folder."""
        path = self._bridge.jvm.org.apache.hadoop.fs.Path
        return self._bridge.seq([path(uri_of(self._snapshot.scan.store.layout.table_path))])

    def partitionSchema(self) -> Any:
        """Return the columns of the partition and the mask, if there are masks."""
        return self._bridge.java_schema(self._partition_schema)

    def listFiles(self, partition_filters: Any, data_filters: Any) -> Any:
        """Return the files that may hold rows for the filters, as ``Seq[PartitionDirectory]``."""
        predicate = self._predicate(data_filters)
        rows = self._matching(partition_filters)
        if rows is None:
            rows = self._choice.rows
        elif not isinstance(predicate, AlwaysTrue):
            # Manifests of other partitions stay unread.
            predicate = all_of(self._predicate(partition_filters), predicate)
        if rows is None or len(rows) == len(self._rows.texts):
            check_full_scan(self._bridge, self._snapshot, predicate)
        key = predicate, rows
        with self._lock:
            if key in self._listings:
                self._listings.move_to_end(key)
                return self._listings[key]
        listing, mask_bytes = self._list(self._splits(predicate, rows), rows)
        if mask_bytes <= _KEPT_MASK_BYTES:
            with self._lock:
                self._listings[key] = listing
                while len(self._listings) > _KEPT_LISTINGS:
                    self._listings.popitem(last=False)
        return listing

    def inputFiles(self) -> Any:
        """Return the paths of all files."""
        return self._bridge.strings([uri_of(path) for path in self._paths()])

    def refresh(self) -> None:
        """Do nothing: a snapshot does not change."""

    def sizeInBytes(self) -> int:
        """Return the size of all files, or of those of the partitions that a query is about."""
        if self._choice == _EVERYTHING:
            return self._snapshot.size_bytes
        rows = self._choice.rows
        splits = self._splits(AlwaysTrue(), rows)
        return sum(file.file_size_bytes for split in splits for file in self._wanted(split, rows))

    def isTimeTravel(self) -> bool:
        """Return False: what is read is chosen by the table that made this index."""
        return False

    def metadataOpsTimeNs(self) -> Any:
        """Return nothing: the time to plan is not counted."""
        return self._bridge.none()

    def toString(self) -> str:
        """Say what is read, for plans."""
        scan = self._snapshot.scan
        number = "no snapshot" if scan.snapshot is None else f"snapshot {scan.snapshot.id}"
        return f"Paimon({scan.definition.name}, {number})"

    @property
    def _partition_schema(self) -> st.StructType:
        columns = self._row_schema
        return st.StructType([*columns, *MASK_SCHEMA]) if self._masked else columns

    @property
    def _row_schema(self) -> st.StructType:
        columns = partition_schema(self._snapshot.scan.schema)
        if self._snapshot.abilities.as_stored:
            columns = undeclared(columns)
        return st.StructType([*columns, *FILE_SCHEMA]) if self._of_files else columns

    @functools.cached_property
    def _rows(self) -> _Rows:
        """The values of all partitions, or of all files of the shape."""
        splits = self._snapshot.plan.splits
        schema = self._snapshot.scan.schema
        texts = partition_texts(list(dict.fromkeys(split.partition for split in splits)), schema)
        rows = dict[bytes | str, Texts](texts.items())
        if self._of_files:
            rows = {
                file.file_name: (
                    *texts[split.partition],
                    *file_texts(uri_of(self._snapshot.path(split, file)), split, file),
                )
                for split in splits
                for file in self._own(split)
            }
        listing = Listing(self._bridge, self._row_schema, list(rows.values()))
        return _Rows(listing, {key: number for number, key in enumerate(rows)}, [*rows.values()])

    def _number(self, split: DataSplit, file: DataFileMeta) -> int:
        return self._rows.numbers[file.file_name if self._of_files else split.partition]

    def _wanted(self, split: DataSplit, rows: frozenset[int] | None) -> list[DataFileMeta]:
        """Return the files of a split that have the shape and one of these rows; None: any."""
        own = self._own(split)
        if rows is None:
            return own
        return [file for file in own if self._number(split, file) in rows]

    def _predicate(self, filters: Any) -> Predicate:
        bridge = self._bridge
        return all_of(
            to_predicate(bridge, source_filters(bridge, filters), self._names, self._floats),
            padded_predicate(bridge, filters, self._names),
        )

    def _paths(self) -> list[str]:
        snapshot = self._snapshot
        return [
            snapshot.path(split, file)
            for split in snapshot.plan.splits
            for file in split.files
            if snapshot.has_shape(file, self._shape)
        ]

    def _splits(self, predicate: Predicate, rows: frozenset[int] | None) -> list[DataSplit]:
        """Return the splits that have rows with these numbers, None: all."""
        splits = self._snapshot.native_splits(self._shape, predicate)
        if rows is not None:
            splits = [split for split in splits if self._wanted(split, rows)]
        limit, files = self._choice.limit, self._choice.files
        if files is not None:
            chosen = (split.with_files(lambda file: file.file_name in files) for split in splits)
            splits = [split for split in chosen if split.files]
        return splits if limit is None else self._first(splits, limit, rows)

    def _first(
        self, splits: Sequence[DataSplit], limit: int, rows: frozenset[int] | None
    ) -> list[DataSplit]:
        """Return as few splits as have so many rows; those that cost nothing to count first."""
        enough: list[DataSplit] = []
        for split in sorted(splits, key=has_masks):
            if limit <= 0:
                break
            if has_masks(split):
                enough.append(split)
                limit -= self._count_masked([split], rows)
                continue
            files: list[DataFileMeta] = []
            for file in self._wanted(split, rows):
                if limit > 0:
                    files.append(file)
                    limit -= file.row_count
            enough.append(split.with_files(files.__contains__))
        return enough

    def _row_count(self, filters: Any) -> int:
        """Count the rows of partitions that filters keep."""
        rows = self._matching(filters)
        rows = self._choice.rows if rows is None else rows
        return sum(count for _, count in self._split_counts(self._splits(AlwaysTrue(), rows), rows))

    def _groups(self, filters: Any, columns: Sequence[int]) -> Any:
        """Count the rows that filters keep, by their values in columns of the partition.

        Returns
        -------
        Seq[InternalRow]
            The values and the count, which is above 0.
        """
        rows = self._matching(filters)
        rows = self._choice.rows if rows is None else rows
        by_values: dict[Texts, tuple[int, int]] = {}
        for split, count in self._split_counts(self._splits(AlwaysTrue(), rows), rows):
            if count:
                number = self._rows.numbers[split.partition]
                texts = self._rows.texts[number]
                values = tuple(texts[column] for column in columns)
                first, before = by_values.get(values, (number, 0))
                by_values[values] = first, before + count
        return self._rows.listing.counted(dict(by_values.values()), columns)

    def _split_counts(
        self, splits: Sequence[DataSplit], rows: frozenset[int] | None
    ) -> Iterator[tuple[DataSplit, int]]:
        """Count the rows of splits; reads keys of overlapping files only."""
        for split in splits:
            if self._is_known(split):
                yield split, self._least(split, rows)
        others = [split for split in splits if not self._is_known(split)]
        for split, masks in self._with_masks(others):
            yield split, self._unmasked(split, masks, rows)

    def _is_known(self, split: DataSplit) -> bool:
        """Say whether metadata tell how many rows of a split are in files of the shape."""
        if not has_masks(split):
            return True
        is_whole = not self._of_files and len(self._own(split)) == len(split.files)
        return split.raw_convertible and split.has_known_deletions and is_whole

    def _least(self, split: DataSplit, rows: frozenset[int] | None) -> int:
        if has_masks(split):
            return split.least_row_count
        return sum(file.row_count for file in self._wanted(split, rows))

    def _count_masked(self, splits: Sequence[DataSplit], rows: frozenset[int] | None) -> int:
        return sum(self._unmasked(split, masks, rows) for split, masks in self._with_masks(splits))

    def _unmasked(self, split: DataSplit, masks: SplitMasks, rows: frozenset[int] | None) -> int:
        return sum(
            mask.count(file.row_count)
            for file, mask in zip(split.files, masks, strict=True)
            if self._snapshot.has_shape(file, self._shape)
            and (rows is None or self._number(split, file) in rows)
        )

    def _matching(self, filters: Any) -> frozenset[int] | None:
        """Return the numbers of the partitions that filters keep; None: they are no filters."""
        return None if filters.isEmpty() else self._rows.listing.matching(filters)

    def _narrowed(self, filters: Any, part: Choice = _EVERYTHING) -> SnapshotFileIndex | None:
        """Return an index of the files that filters on partitions, or a choice, need; None: this.

        The same choice is the same object, so that Spark knows equal parts of a query.
        """
        choice = self._choice.within(Choice(self._matching(filters))).within(part)
        if choice == self._choice:
            return None
        with self._lock:
            found = self._narrower.pop(choice, None)
            if found is None:
                found = SnapshotFileIndex(
                    self._bridge, self._snapshot, self._shape, choice, of_files=self._of_files
                )
                found.__dict__["_rows"] = self._rows
            self._narrower[choice] = found
            while len(self._narrower) > _KEPT_CHOICES:
                self._narrower.popitem(last=False)
        return found

    def _list(self, splits: Sequence[DataSplit], rows: frozenset[int] | None) -> tuple[Any, int]:
        """List the files with these rows; returns the listing and the bytes of its masks."""
        plain: dict[int, list[ListedFiles]] = {}
        for split in splits:
            if has_masks(split):
                continue
            wanted = self._wanted(split, rows)
            if not self._of_files and wanted:
                number = self._rows.numbers[split.partition]
                plain.setdefault(number, []).extend(self._listed_together(split, wanted))
                continue
            for file in wanted:
                plain.setdefault(self._number(split, file), []).append(self._listed(split, file))
        masked: list[Directory] = []
        for split, masks in self._with_masks(splits):
            for file, mask in zip(split.files, masks, strict=True):
                if mask.is_empty or not self._snapshot.has_shape(file, self._shape):
                    continue
                number = self._number(split, file)
                if rows is not None and number not in rows:
                    continue
                if mask.bits is None:
                    plain.setdefault(number, []).append(self._listed(split, file))
                else:
                    masked.append(Directory(number, [self._listed(split, file)], mask.bits))
        mask_bytes = sum(len(one.mask or b"") for one in masked)
        whole = [Directory(number, files) for number, files in plain.items() if files]
        directories = [*masked, *whole]
        self._check(directories)
        listing = self._rows.listing
        scheme = self._snapshot.abilities.scheme
        made = listing.directories(directories, has_mask_column=self._masked, scheme=scheme)
        return made, mask_bytes

    def _check(self, directories: Sequence[Directory]) -> None:
        """Refuse links that lead out: Spark would follow them. What is missing Spark says."""
        names: dict[str, set[str]] = {}
        for group in (group for one in directories for group in one.files):
            names.setdefault(group.folder, set()).update(group.names)
        file_io = self._snapshot.scan.store.file_io
        for folder, some in names.items():
            file_io.check_files(folder, some)

    def _own(self, split: DataSplit) -> list[DataFileMeta]:
        return self._snapshot.files_of(split, self._shape)

    def _with_masks(self, splits: Sequence[DataSplit]) -> list[tuple[DataSplit, SplitMasks]]:
        overlapping = [split for split in splits if has_masks(split)]
        if not overlapping:
            return []
        snapshot = self._snapshot
        path = snapshot.scan.store.layout.table_path
        # Masks of a whole split, once computed, serve every query; else the fewest files do.
        wholes = [snapshot.whole_split(split) for split in overlapping]
        chosen = [
            whole if is_cached(path, whole) else split
            for whole, split in zip(wholes, overlapping, strict=True)
        ]
        file_io = snapshot.scan.store.file_io
        masks = masks_of(self._bridge.spark, chosen, snapshot.mask_plan, file_io)
        return [
            (split, _masks_for(split, source, found))
            for split, source, found in zip(overlapping, chosen, masks, strict=True)
        ]

    def _listed(self, split: DataSplit, file: DataFileMeta) -> ListedFiles:
        folder, _, name = self._snapshot.path(split, file).rpartition("/")
        millis = file.creation_time_millis or 0
        return ListedFiles(folder, [name], [file.file_size_bytes], [millis])

    def _listed_together(
        self, split: DataSplit, files: Sequence[DataFileMeta]
    ) -> Iterable[ListedFiles]:
        names = [file.file_name for file in files]
        if any(file.external_path is not None for file in files) or not are_plain(names):
            return [self._listed(split, file) for file in files]
        folder = self._snapshot.path(split, files[0]).rpartition("/")[0]
        sizes = [file.file_size_bytes for file in files]
        return [
            ListedFiles(folder, names, sizes, [file.creation_time_millis or 0 for file in files])
        ]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Values of partition columns, and which of them a partition has."""

    listing: Listing
    numbers: Mapping[bytes | str, int]
    """By the partition's serialised row, or the name of the file."""
    texts: Sequence[Texts]
    """The values, by number."""


def _masks_for(split: DataSplit, source: DataSplit, masks: SplitMasks) -> SplitMasks:
    """Pick the masks of a split's files out of those of a split with more files."""
    by_name = {file.file_name: mask for file, mask in zip(source.files, masks, strict=True)}
    return tuple(by_name[file.file_name] for file in split.files)
