"""INT64 and INT96 timestamps in one Parquet file.

Java Paimon stores timestamps finer than microseconds as INT96 and all others as INT64; before
1.2 it reads nothing else. pyarrow has one switch for all timestamps of a file. So the others are
written as plain integers beside INT96, and what their columns mean is put into the footer when
it is written.

Source: apache/paimon@1.3.1 ``org.apache.paimon.format.parquet.ParquetSchemaConverter``.
"""

from __future__ import annotations

import io

import pyarrow as pa

from paimonlab.formats.parquet.file_end import footer_of, with_end
from paimonlab.formats.parquet.thrift_compact import decode

_SCHEMA = 2
_CHILD_COUNT = 5


def with_integers(schema: pa.Schema) -> pa.Schema:
    """Return the schema with int64 in place of all timestamps of milli- and microseconds."""
    return pa.schema([field.with_type(_with_integers(field.type)) for field in schema])


def _with_integers(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(type_):
        return type_ if type_.unit == "ns" else pa.int64()
    if pa.types.is_list(type_):
        element = type_.value_field
        return pa.list_(element.with_type(_with_integers(element.type)))
    if pa.types.is_map(type_):
        key, value = type_.key_field, type_.item_field
        return pa.map_(
            key.with_type(_with_integers(key.type)), value.with_type(_with_integers(value.type))
        )
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_with_integers(field.type)) for field in type_])
    return type_


class EndHeldBack(io.RawIOBase):
    """Hands on what is written until the end of a Parquet file begins, then keeps it.

    Parameters
    ----------
    file
        Where to write; it stays open.
    """

    def __init__(self, file: pa.NativeFile) -> None:
        super().__init__()
        self._file = file
        self._end: list[bytes] | None = None

    def hold_back(self) -> None:
        """Keep what comes from now on."""
        self._end = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        """Write, or keep."""
        if self._end is None:
            self._file.write(data)
        else:
            self._end.append(bytes(data))
        return len(data)

    def finish(self, twin: bytes) -> None:
        """Write what was kept, its columns described as those of another file.

        Parameters
        ----------
        twin
            A file of the same columns, all timestamps in it being INT64.
        """
        assert self._end is not None, "there is an end once it is held back"
        self._file.write(_described(b"".join(self._end), twin))
        self._end = None


def _described(end: bytes, like: bytes) -> bytes:
    """Describe the columns that are integers as the timestamps they are."""
    footer, twin = footer_of(end), footer_of(like)
    described, at = [], 0
    for ours, theirs in zip(decode(footer)[_SCHEMA], decode(twin)[_SCHEMA], strict=True):
        is_leaf = not ours.get(_CHILD_COUNT)
        is_same_storage = is_leaf and ours.get(1) == theirs.get(1)
        if is_same_storage:
            described += [footer[at : ours.start], twin[theirs.start : theirs.end]]
            at = ours.end
    described.append(footer[at:])
    return end[: -len(with_end(footer))] + with_end(b"".join(described))
