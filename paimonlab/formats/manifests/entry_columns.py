"""Many manifest entries -> Avro records, column by column.

Merging manifests writes all entries of a table again and again; a Python value for each of them
would cost more than all the rest of a commit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.formats.avro.blocks import BLOCK_BYTES, Block
from paimonlab.formats.avro.encode import encode_rows
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA, ENTRY_VERSION
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import ArrayType, AtomicType, DataField, DataType, TypeRoot

_VERSION = "version"


def entry_blocks(entries: pa.Table, optional: frozenset[str]) -> Iterator[Block]:
    """Encode entries as `avro_container.write_records` does, the same bytes.

    Parameters
    ----------
    entries
        Of `ENTRY_SCHEMA`, whose columns are in the order of the record.
    optional
        Columns that may be null.

    Yields
    ------
    Block
        Not compressed.
    """
    versions = arrow_array(np.full(entries.num_rows, ENTRY_VERSION, np.int32))
    fields = [DataField(0, _VERSION, AtomicType(TypeRoot.INT, nullable=False))]
    columns = [versions]
    for number, (name, column) in enumerate(
        zip(ENTRY_SCHEMA.names, entries.columns, strict=True), start=1
    ):
        type_ = _type(ENTRY_SCHEMA.field(name).type, is_nullable=name in optional)
        fields.append(DataField(number, name, type_))
        columns.append(column.combine_chunks().cast(to_arrow(type_)))
    rows = pa.RecordBatch.from_arrays(columns, names=[field.name for field in fields])
    records = encode_rows(rows, fields)
    ends = np.cumsum(records.lengths)
    first = start = 0
    while first < len(ends):
        last = int(np.searchsorted(ends, start + BLOCK_BYTES, side="left")) + 1
        last = min(last, len(ends))
        end = int(ends[last - 1])
        yield Block(last - first, records.data[start:end].tobytes())
        first, start = last, end


def _type(arrow_type: pa.DataType, *, is_nullable: bool) -> DataType:
    if pa.types.is_large_list(arrow_type):
        is_text = pa.types.is_large_string(arrow_type.value_type)
        return ArrayType(_type(arrow_type.value_type, is_nullable=not is_text), is_nullable)
    if pa.types.is_large_string(arrow_type):
        return AtomicType(TypeRoot.VARCHAR, length=2**31 - 1, nullable=is_nullable)
    if pa.types.is_large_binary(arrow_type):
        return AtomicType(TypeRoot.VARBINARY, length=2**31 - 1, nullable=is_nullable)
    root = TypeRoot.INT if pa.types.is_int32(arrow_type) else TypeRoot.BIGINT
    return AtomicType(root, nullable=is_nullable)
