"""Spark's `FileIndex` in Python: which files a native Parquet scan reads, and their masks."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from paimonlab.scan.split import DataSplit
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.file_failures import remember_folder
from paimonlab.spark.reading.file_shape import FileShape
from paimonlab.spark.reading.filters import source_filters, to_predicate
from paimonlab.spark.reading.listing import ListedFile, masked_directories, plain_directory
from paimonlab.spark.reading.mask_source import SplitMasks, is_cached, masks_of
from paimonlab.spark.reading.masks import MASK_SCHEMA, FileMask
from paimonlab.spark.reading.padded_filters import padded_predicate
from paimonlab.spark.reading.pinned import PinnedRead
from paimonlab.spark.reading.scan import SnapshotScan, has_masks
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import Predicate, all_of

_DATASOURCES = "org.apache.spark.sql.execution.datasources."
_KEPT_LISTINGS = 2
_KEPT_MASK_BYTES = 1 << 20
"""Listings with larger masks are created anew for each query, or the JVM would fill with them."""


class SnapshotFileIndex(PinnedRead):
    """The files of one shape at one snapshot.

    Spark never tests partition filters on rows again, so the only partition column is the mask;
    the table's own partition columns are read from the files like all others. Filters on data
    columns are tested again: here they only prune.
    """

    class Java:
        """py4j's list of interfaces."""

        implements = [_DATASOURCES + "FileIndex"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, snapshot: SnapshotScan, shape: FileShape) -> None:
        super().__init__(bridge, snapshot)
        self._shape = shape
        self._masked = snapshot.needs_masks(shape)
        definition, store = snapshot.scan.definition, snapshot.scan.store
        remember_folder(_uri(store.layout.table_path), definition.name)
        self._names = {
            column.file_name: column.name for column in shape if column.is_compared_alike
        }
        self._listings: OrderedDict[Predicate, Any] = OrderedDict()
        self._lock = threading.Lock()

    def rootPaths(self) -> Any:
        """Return the table's folder."""
        path = self._bridge.jvm.org.apache.hadoop.fs.Path
        return self._bridge.seq([path(_uri(self._snapshot.scan.store.layout.table_path))])

    def partitionSchema(self) -> Any:
        """Return the mask as the only partition column, if there are masks."""
        schema = MASK_SCHEMA if self._masked else type(MASK_SCHEMA)()
        return self._bridge.java_schema(schema)

    def listFiles(self, partition_filters: Any, data_filters: Any) -> Any:
        """Return the files that may hold rows for the filters, as ``Seq[PartitionDirectory]``."""
        del partition_filters  # none can be made: the mask is no column of the query
        predicate = all_of(
            to_predicate(source_filters(self._bridge, data_filters), self._names),
            padded_predicate(data_filters, self._names),
        )
        with self._lock:
            if predicate in self._listings:
                self._listings.move_to_end(predicate)
                return self._listings[predicate]
        listing, mask_bytes = self._list(predicate)
        if mask_bytes <= _KEPT_MASK_BYTES:
            with self._lock:
                self._listings[predicate] = listing
                while len(self._listings) > _KEPT_LISTINGS:
                    self._listings.popitem(last=False)
        return listing

    def inputFiles(self) -> Any:
        """Return the paths of all files."""
        return self._bridge.strings([_uri(path) for path in self._paths()])

    def refresh(self) -> None:
        """Do nothing: a snapshot does not change."""

    def sizeInBytes(self) -> int:
        """Return the size of all files."""
        return self._snapshot.size_bytes

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

    def _paths(self) -> list[str]:
        snapshot = self._snapshot
        return [
            snapshot.path(split, file)
            for split in snapshot.plan.splits
            for file in split.files
            if snapshot.has_shape(file, self._shape)
        ]

    def _list(self, predicate: Predicate) -> tuple[Any, int]:
        """Make the listing; returns it and how many bytes its masks have."""
        splits = self._snapshot.native_splits(self._shape, predicate)
        whole = [split for split in splits if not has_masks(split)]
        plain = [(split, file) for split in whole for file in self._own(split)]
        masked: list[tuple[DataSplit, DataFileMeta, FileMask]] = []
        for split, masks in self._with_masks(splits):
            for file, mask in zip(split.files, masks, strict=True):
                if mask.is_empty or not self._snapshot.has_shape(file, self._shape):
                    continue
                if mask.bits is None:
                    plain.append((split, file))
                else:
                    masked.append((split, file, mask))
        mask_bytes = sum(mask.size_bytes for _, _, mask in masked)
        return self._directories(plain, masked), mask_bytes

    def _own(self, split: DataSplit) -> list[DataFileMeta]:
        return [file for file in split.files if self._snapshot.has_shape(file, self._shape)]

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

    def _directories(
        self,
        plain: Sequence[tuple[DataSplit, DataFileMeta]],
        masked: Sequence[tuple[DataSplit, DataFileMeta, FileMask]],
    ) -> Any:
        bridge = self._bridge
        directories = bridge.list([])
        if masked:
            files = [self._listed(split, file) for split, file, _ in masked]
            masks = [mask.bits for _, _, mask in masked if mask.bits is not None]
            directories.addAll(masked_directories(bridge, files, masks))
        if plain:
            files = [self._listed(split, file) for split, file in plain]
            directories.add(plain_directory(bridge, files, has_mask_column=self._masked))
        return bridge.jvm.scala.jdk.javaapi.CollectionConverters.asScala(directories).toSeq()

    def _listed(self, split: DataSplit, file: DataFileMeta) -> ListedFile:
        path = self._snapshot.path(split, file)
        # A link that leads out is refused here: Spark would follow it. That a file is missing Spark
        # says when it comes to it.
        with contextlib.suppress(FileNotFoundError):
            self._snapshot.scan.store.file_io.size_bytes(path)
        return ListedFile(_uri(path), file.file_size_bytes, file.creation_time_millis or 0)


def _masks_for(split: DataSplit, source: DataSplit, masks: SplitMasks) -> SplitMasks:
    """Pick the masks of a split's files out of those of a split with more files."""
    by_name = {file.file_name: mask for file, mask in zip(source.files, masks, strict=True)}
    return tuple(by_name[file.file_name] for file in split.files)


def _uri(path: str) -> str:
    return path if "://" in path else "file:" + path
