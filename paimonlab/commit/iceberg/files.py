"""Files of a Paimon table as Iceberg describes them.

Source: apache/paimon@1.4.2 ``org.apache.paimon.iceberg.manifest.IcebergDataFileMeta``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values, one_array
from paimonlab.errors import UnsupportedError
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.deletion_files import deletion_file
from paimonlab.scan.split_paths import bucket_paths
from paimonlab.scan.statistics import column_stats
from paimonlab.spec.iceberg.manifests import Content, IcebergFile, Partition
from paimonlab.spec.iceberg.single_values import is_nan, plain_values, to_bytes
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot

_WITHOUT_BOUNDS = (TypeRoot.VARIANT, TypeRoot.BLOB)


@dataclass(frozen=True, kw_only=True)
class FileDescriber:
    """Describes files of one table."""

    layout: TableLayout
    schemas: SchemaManager
    fields: Sequence[DataField]
    """The partition columns."""
    options: PartitionOptions
    vectors_beside_data: bool
    """``index-file-in-data-file-dir``"""

    def paths(self, entries: pa.Table) -> list[str]:
        """Return where the files of n manifest entries are, absolute."""
        folders = bucket_paths(
            one_array(entries["partition"]),
            entries["bucket"].to_pylist(),
            self.fields,
            self.options,
        )
        names = entries["file_name"].to_pylist()
        external = entries["external_path"].to_pylist()
        return [
            elsewhere or self.layout.data_file(folder, name)
            for folder, name, elsewhere in zip(folders, names, external, strict=True)
        ]

    def partitions(self, rows: pa.Array) -> list[Partition]:
        """Return the values of n serialised partitions."""
        if not self.fields:
            return [()] * len(rows)
        encoded = rows.dictionary_encode()
        columns = partition_columns(encoded.dictionary, self.fields).columns
        values = [
            plain_values(column, field.type)
            for column, field in zip(columns, self.fields, strict=True)
            if isinstance(field.type, AtomicType)
        ]
        distinct = list(zip(*values, strict=True))
        return [distinct[number] for number in encoded.indices.to_pylist()]

    def data_files(self, entries: pa.Table, paths: Sequence[str]) -> list[IcebergFile]:
        """Describe the files of n manifest entries.

        Parameters
        ----------
        entries
            Of files that are added or alive.
        paths
            Where they are.
        """
        partitions = self.partitions(one_array(entries["partition"]))
        rows = entries["row_count"].to_pylist()
        sizes = entries["file_size_bytes"].to_pylist()
        bounds = self._bounds(entries)
        return [
            IcebergFile(
                path=path,
                file_format=path.rpartition(".")[2].lower(),
                partition=partition,
                record_count=count,
                size_bytes=size,
                null_counts=known.null_counts,
                lower_bounds=known.lower,
                upper_bounds=known.upper,
            )
            for path, partition, count, size, known in zip(
                paths, partitions, rows, sizes, bounds, strict=True
            )
        ]

    def vectors(self, indexes: Sequence[IndexManifestEntry]) -> list[IcebergFile]:
        """Describe deletion vectors.

        Parameters
        ----------
        indexes
            The files that they are in.

        Raises
        ------
        UnsupportedError
            If it is unknown how many rows a vector deletes, which readers check.
        """
        if not indexes:
            return []
        rows = arrow_array([index.partition for index in indexes], pa.large_binary())
        folders = bucket_paths(rows, [index.bucket for index in indexes], self.fields, self.options)
        partitions = self.partitions(rows)
        files = []
        for index, folder, partition in zip(indexes, folders, partitions, strict=True):
            for vector in index.deletion_vectors or ():
                if vector.cardinality is None:
                    raise UnsupportedError(
                        "deletion vectors of Paimon 0.9 in Iceberg metadata",
                        f"{index.file_name} does not say how many rows they delete; compact "
                        "the table",
                    )
                place = deletion_file(index, vector, folder, beside_data=self.vectors_beside_data)
                files.append(
                    IcebergFile(
                        content=Content.DELETES,
                        path=self.layout.index_file(place.path),
                        file_format="puffin",
                        partition=partition,
                        record_count=vector.cardinality,
                        size_bytes=index.file_size_bytes,
                        data_file=self.layout.data_file(folder, vector.data_file_name),
                        content_offset=vector.offset,
                        content_bytes=vector.length_bytes,
                    )
                )
        return files

    def _bounds(self, entries: pa.Table) -> list[_Bounds]:
        found = [_Bounds({}, {}, {}) for _ in range(entries.num_rows)]
        ids = numpy_values(one_array(entries["schema_id"]))
        for schema_id in np.unique(ids).tolist():
            numbers = np.flatnonzero(ids == schema_id)
            schema = self.schemas.get(schema_id)
            fields = [field for field in schema.fields if _has_bounds(field)]
            names = [field.name for field in fields]
            ours = entries.take(arrow_array(numbers))
            stats = column_stats(ours, "value_stats", names, schema, self.schemas)
            for field in fields:
                known = stats[field.name]
                _note(field, known.min, known.max, known.null_count, numbers.tolist(), found)
        return found


@dataclass(frozen=True, slots=True)
class _Bounds:
    null_counts: dict[int, int]
    lower: dict[int, bytes]
    upper: dict[int, bytes]


def _has_bounds(field: DataField) -> bool:
    return isinstance(field.type, AtomicType) and field.type.root not in _WITHOUT_BOUNDS


def _note(
    field: DataField,
    low: pa.Array,
    high: pa.Array,
    nulls: pa.Array,
    numbers: Sequence[int],
    found: Sequence[_Bounds],
) -> None:
    """Write down what is known of a column of some files, whose numbers are given."""
    data_type = field.type
    assert isinstance(data_type, AtomicType)  # others have no statistics
    lows, highs = (plain_values(one_array(side), data_type) for side in (low, high))
    counts = one_array(nulls).to_pylist()
    for number, least, most, count in zip(numbers, lows, highs, counts, strict=True):
        bounds = found[number]
        if count is not None:
            bounds.null_counts[field.id] = count
        if least is None or most is None or is_nan(least) or is_nan(most):
            continue
        bounds.lower[field.id] = to_bytes(least, data_type)
        bounds.upper[field.id] = to_bytes(most, data_type)
