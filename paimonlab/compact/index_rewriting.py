"""Rebuilding the indexes of a data file; its rows stay where they are.

Source: apache/paimon@1.3.1 ``org.apache.paimon.flink.procedure.RewriteFileIndexProcedure``,
``org.apache.paimon.io.DataFilePathFactory.createNewFileIndexFilePath``.
"""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec
from msgspec import structs

from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.datafile.writer import INDEX_SUFFIX
from paimonlab.formats.file_index.building import FileIndexBuilder
from paimonlab.formats.file_index.options import FileIndexOptions, IndexSpec
from paimonlab.formats.file_index.values import form_of
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import MapType
from paimonlab.storage import LARGE_LIMIT_BYTES, FileIO

_NUMBERED = re.compile(r"(?P<name>.*-)(?P<number>\d+)\.index")


def index_anew(
    file: DataFileMeta,
    bucket: BucketFiles,
    options: FileIndexOptions,
    read: ReadPlan,
    file_io: FileIO,
) -> DataFileMeta | None:
    """Write the indexes of a file that the options of its table ask for.

    Parameters
    ----------
    file
        A file of ``bucket``; it does not change.
    bucket
        Where it is.
    options
        Which indexes the file should have, by the columns of ``read``'s schema.
    read, file_io
        How to read the table; its store.

    Returns
    -------
    DataFileMeta or None
        The file with its indexes, which are durable; None if it already has the same ones.

    Notes
    -----
    The indexed columns of the file are in memory. A column that the file does not have, or has in
    a type that cannot be indexed, gets none.
    """
    schema = read.schema_of(file)
    specs = tuple(_in_file(options, read.schema, schema))
    names = {spec.column for spec in specs}
    fields = [field for field in schema.fields if field.name in names]
    builder = FileIndexBuilder(fields, replace(options, indexes=specs))
    plan = structs.replace(read, schema=schema, columns=tuple(field.name for field in fields))
    if fields:
        for rows in read_split(_as_it_is(file, bucket), plan, file_io):
            builder.add(rows)
    data = builder.finish() if specs else None
    others = tuple(name for name in file.extra_files if not name.endswith(INDEX_SUFFIX))
    indexes = [name for name in file.extra_files if name.endswith(INDEX_SUFFIX)]
    is_small = data is None or len(data) <= options.in_manifest_threshold
    if is_small:
        if not indexes and file.embedded_file_index == data:
            return None
        return msgspec.structs.replace(file, embedded_file_index=data, extra_files=others)
    assert data is not None, "only what is there is large"
    before = indexes[0] if indexes else None
    if before is not None:
        stored = index_path(file, before, bucket, read)
        if file_io.read(stored, limit_bytes=LARGE_LIMIT_BYTES) == data:
            return None
    name = file.file_name + INDEX_SUFFIX if before is None else _next_name(before)
    file_io.write(index_path(file, name, bucket, read), data)
    return msgspec.structs.replace(file, embedded_file_index=None, extra_files=(*others, name))


def index_path(file: DataFileMeta, name: str, bucket: BucketFiles, read: ReadPlan) -> str:
    """Return where an index of a file is: beside the file."""
    external = file.external_path
    if external is not None:
        external = f"{external.rpartition('/')[0]}/{name}"
    return read.layout.data_file(bucket.folder, name, external)


def _in_file(
    options: FileIndexOptions, schema: TableSchema, of_file: TableSchema
) -> list[IndexSpec]:
    """Say which indexes a file gets, by the names that its columns have there."""
    fields = {field.id: field for field in of_file.fields}
    indexes = []
    for spec in options.indexes:
        field = fields.get(schema.field(spec.column).id)
        if field is None:
            continue
        type_ = field.type
        if spec.map_key is not None:
            if not isinstance(type_, MapType):
                continue
            type_ = type_.value
        if form_of(type_, spec.kind) is not None:
            indexes.append(replace(spec, column=field.name))
    return indexes


def _as_it_is(file: DataFileMeta, bucket: BucketFiles) -> DataSplit:
    """Return the file as what is read: every row of it, also deleted ones."""
    return DataSplit(
        snapshot_id=bucket.snapshot_id,
        partition=bucket.partition,
        bucket=bucket.bucket,
        total_buckets=bucket.total_buckets,
        bucket_path=bucket.folder,
        files=(file,),
        raw_convertible=True,
    )


def _next_name(name: str) -> str:
    """Return a new name, as an older snapshot still needs the file with this one.

    Examples
    --------
    >>> _next_name("data-1-0.parquet.index"), _next_name("data-1-0.parquet-1.index")
    ('data-1-0.parquet-1.index', 'data-1-0.parquet-2.index')
    """
    match = _NUMBERED.fullmatch(name)
    if match is None:
        return name.removesuffix(INDEX_SUFFIX) + "-1" + INDEX_SUFFIX
    return f"{match['name']}{int(match['number']) + 1}{INDEX_SUFFIX}"
