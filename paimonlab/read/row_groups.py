"""Rows whose columns are in several files, put together again (data evolution).

A file that has only some columns of rows completes, or hides, columns of older files with
the same row ids. Each column is read from the newest file of the group that has it; rows find
each other by position. A condition is looked at once all of its columns are there.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.DataEvolutionSplitRead``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import UnsupportedError
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.row_groups import row_groups
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import evaluate
from paimonlab.spec.schema.row_tracking import TRACKING_COLUMNS
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import ROW_ID
from paimonlab.storage import FileIO


def group_splits(split: DataSplit, table: str) -> list[DataSplit]:
    """Cut a split into one per group of files, the newest file first in each.

    Raises
    ------
    UnsupportedError
        If rows of the split are deleted by position.
    """
    if any(split.deletion_files):
        raise UnsupportedError(
            "deletion-vectors.enabled = 'true'", f"{table} has data evolution, too"
        )
    return [
        msgspec.structs.replace(split, files=tuple(group), raw_convertible=len(group) == 1)
        for group in row_groups(split.files)
    ]


def needs_no_columns_of_others(split: DataSplit, plan: ReadPlan) -> bool:
    """Whether a group is one file that is read as it is."""
    first, *others = split.files
    has_partition = first.write_cols is None or {*plan.schema.partition_keys} <= {*first.write_cols}
    return not others and has_partition


def read_row_group(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> Iterator[pa.RecordBatch]:
    """Read the rows of a group of files, a split of `group_splits`.

    Yields
    ------
    pyarrow.RecordBatch
        Of ``plan.arrow_schema``, none empty; only rows for which the condition is true.
    """
    wanted = plan.fields_to_read
    own = [field for field in wanted if field.name not in plan.schema.partition_keys]
    sources = sources_of(split.files, own, plan)
    schema = arrow_schema(wanted)
    with ExitStack() as files:
        streams = []
        for position in sorted(set(sources.values()) or {0}):
            fields = [field for field in own if sources.get(field.name) == position]
            data = files.enter_context(open_data_file(split, split.files[position], plan, file_io))
            rows = data.positioned(fields, batch_rows=plan.bounds.batch_rows)
            streams.append(positioned.rows for positioned in rows)
        for parts in aligned(streams):
            columns = {name: part.column(name) for part in parts for name in part.schema.names}
            count = parts[0].num_rows
            constants = _partition_columns(split, plan, wanted, count)
            batch = _batch(schema, columns | constants, count)
            if plan.predicate is not None and count:
                batch = batch.filter(evaluate(plan.predicate, batch))
            if batch.num_rows:
                yield batch.select(list(plan.columns))


def sources_of(
    group: Sequence[DataFileMeta], fields: Sequence[DataField], plan: ReadPlan
) -> dict[str, int]:
    """Find the file of each column: the first of the group, newest first, that has it.

    Parameters
    ----------
    group
        f files, newest first.
    fields
        Columns of the read schema.
    plan
        Finds the schemas of the files.

    Returns
    -------
    dict of int
        Positions in ``group`` by the names of columns; columns in no file are left out.
    """
    positions: dict[str, int] = {}
    for position, file in enumerate(group):
        schema = plan.schema_of(file)
        written = {
            field.id
            for field in schema.fields
            if file.write_cols is None or field.name in file.write_cols
        }
        for field in fields:
            # Every file has ids: those in it, or those that metadata gives.
            if field.id in written or field.name in TRACKING_COLUMNS:
                positions.setdefault(field.name, position)
    return positions


def aligned(
    streams: Sequence[Iterator[pa.RecordBatch]],
) -> Iterator[list[pa.RecordBatch]]:
    """Read streams of the same rows side by side, in pieces of equal length.

    Examples
    --------
    >>> left = [pa.record_batch({"a": [1, 2]}), pa.record_batch({"a": [3]})]
    >>> right = [pa.record_batch({"b": [4]}), pa.record_batch({"b": [5, 6]})]
    >>> [[part.to_pydict() for part in parts] for parts in aligned([iter(left), iter(right)])]
    [[{'a': [1]}, {'b': [4]}], [{'a': [2]}, {'b': [5]}], [{'a': [3]}, {'b': [6]}]]
    """
    current: list[pa.RecordBatch | None] = [None] * len(streams)
    while True:
        for position, stream in enumerate(streams):
            batch = current[position]
            while batch is None or not batch.num_rows:
                batch = next(stream, None)
                if batch is None:
                    return
            current[position] = batch
        heads = [batch for batch in current if batch is not None]
        count = min(batch.num_rows for batch in heads)
        yield [batch.slice(0, count) for batch in heads]
        current = [batch.slice(count) for batch in heads]


def _partition_columns(
    split: DataSplit, plan: ReadPlan, wanted: Sequence[DataField], count: int
) -> dict[str, pa.Array]:
    """Repeat the partition's values: files that hold some columns need not hold these."""
    keys = plan.schema.partition_keys
    asked = [field.name for field in wanted if field.name in keys]
    if not asked:
        return {}
    types = [plan.schema.field(key).type for key in keys]
    values = decode(arrow_array([split.partition], pa.large_binary()), types)
    return {name: pa.repeat(values[keys.index(name)][0], count) for name in asked}


def _batch(schema: pa.Schema, columns: dict[str, pa.Array], count: int) -> pa.RecordBatch:
    if not len(schema):
        return pa.RecordBatch.from_arrays([pa.nulls(count)], names=[ROW_ID]).select([])
    arrays = [
        columns[field.name] if field.name in columns else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
