"""Deletion vectors -> index files.

Source: apache/paimon@1.3.1
``org.apache.paimon.deletionvectors.DeletionVectorIndexFileWriter``.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from paimonlab.formats.deletion_vectors import (
    DeletionVector,
    encode_deletion_vector,
    index_files,
)
from paimonlab.metadata.layout import TableLayout
from paimonlab.spec.manifests.index_manifest import (
    DELETION_VECTORS,
    DeletionVectorRange,
    IndexManifestEntry,
)
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.storage import FileIO, join


class IndexFileOptions(OptionSlice):
    """The table options that say how deletion vectors are written."""

    bitmap64: bool = option_field("deletion-vectors.bitmap64", "boolean", default=False)
    """``deletion-vectors.bitmap64``: in the layout of Iceberg."""
    target_size_bytes: int = option_field(
        "deletion-vector.index-file.target-size", "memory", "2 mb"
    )
    """``deletion-vector.index-file.target-size``: a larger file is ended, in append tables
    without buckets; a bucket has one file."""
    is_beside_data: bool = option_field("index-file-in-data-file-dir", "boolean", default=False)
    """``index-file-in-data-file-dir``: in the folder of the bucket."""

    def folder(self, layout: TableLayout, bucket_folder: str) -> str:
        """Return the folder of the index files of a bucket, given that of its data files."""
        return bucket_folder if self.is_beside_data else layout.index_folder


def write_deletion_vectors(
    file_io: FileIO,
    folder: str,
    vectors: Mapping[str, DeletionVector],
    options: IndexFileOptions,
    *,
    partition: bytes,
    bucket: int,
    is_one_file: bool,
) -> list[IndexManifestEntry]:
    """Write the deletion vectors of a bucket.

    Parameters
    ----------
    file_io, folder
        Where to; the folder is absolute.
    vectors
        By the name of their data file.
    options
        How.
    partition
        Serialised BinaryRow of the partition values.
    bucket
        The bucket of the data files.
    is_one_file
        Whether all go into one file, which is written even without vectors: it replaces the
        one before it.

    Returns
    -------
    list of IndexManifestEntry
        The files, durable.
    """
    names = list(vectors)
    encoded = [
        encode_deletion_vector(vector, bitmap64=options.bitmap64) for vector in vectors.values()
    ]
    target = None if is_one_file else options.target_size_bytes
    identity = uuid.uuid4()
    entries: list[IndexManifestEntry] = []
    written = 0
    try:
        for number, content in enumerate(index_files(encoded, target_bytes=target)):
            file_name = f"index-{identity}-{number}"
            file_io.write(join(folder, file_name), content.data)
            ranges = tuple(
                DeletionVectorRange(name, offset, length, vectors[name].cardinality)
                for name, offset, length in zip(
                    names[written:], content.offsets, content.lengths, strict=False
                )
            )
            written += len(ranges)
            entries.append(
                IndexManifestEntry(
                    partition=partition,
                    bucket=bucket,
                    index_type=DELETION_VECTORS,
                    file_name=file_name,
                    file_size_bytes=len(content.data),
                    row_count=len(ranges),
                    deletion_vectors=ranges,
                )
            )
    except BaseException:
        for entry in entries:
            file_io.delete(join(folder, entry.file_name))
        raise
    return entries
