"""How a commit changes the partitions of a table, as a catalog is told.

Source: apache/paimon@1.4.2 ``org.apache.paimon.manifest.PartitionEntry``,
``org.apache.paimon.operation.FileStoreCommitImpl``.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paimonlab.catalog.rest.wire import PartitionStatistics
from paimonlab.scan.file_times import local_to_epoch
from paimonlab.scan.file_totals import totals
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.manifests.manifest import FileKind, is_kind
from paimonlab.spec.partitions.folders import PartitionOptions, partition_texts
from paimonlab.spec.types.data_types import DataField


def partition_statistics(
    entries: pa.Table, fields: Sequence[DataField], options: PartitionOptions
) -> list[PartitionStatistics]:
    """Sum up by partition what files add, less what deleted ones had.

    Parameters
    ----------
    entries
        The manifest entries of a commit (`ENTRY_SCHEMA`).
    fields
        The partition columns; without any there is one partition.
    options
        How values are written.
    """
    found: dict[bytes, PartitionStatistics] = {}
    for kind, sign in ((FileKind.ADD, 1), (FileKind.DELETE, -1)):
        sums = totals(entries.filter(is_kind(entries, kind)), ["partition"])
        specs = _specs(sums["partition"], fields, options)
        for row, spec in zip(sums.to_pylist(), specs, strict=True):
            millis = row["creation_time_millis"]
            before = found.get(row["partition"])
            found[row["partition"]] = PartitionStatistics(
                spec=spec,
                record_count=(before.record_count if before else 0) + sign * row["row_count"],
                file_size_in_bytes=(before.file_size_in_bytes if before else 0)
                + sign * row["file_size_bytes"],
                file_count=(before.file_count if before else 0) + sign * row["file_count"],
                last_file_creation_time=max(
                    before.last_file_creation_time if before else 0,
                    0 if millis is None else local_to_epoch(millis),
                ),
                total_buckets=before.total_buckets if before else row["total_buckets"],
            )
    return list(found.values())


def _specs(
    partitions: pa.ChunkedArray, fields: Sequence[DataField], options: PartitionOptions
) -> list[dict[str, str]]:
    if not fields:
        return [{} for _ in range(len(partitions))]
    types = [field.type for field in fields]
    names = [field.name for field in fields]
    rows = partition_texts(decode(partitions, types), types, options)
    return [
        {
            name: options.default_name if text is None or not text.strip() else text
            for name, text in zip(names, row, strict=True)
        }
        for row in rows
    ]
