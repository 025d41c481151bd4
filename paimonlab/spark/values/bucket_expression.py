"""The bucket of a row as a Spark expression, so that rows need not visit Python to be shuffled.

The expression builds the bytes of the bucket key's BinaryRow and hashes them: Spark's
``hash(BINARY)`` is Murmur3 with seed 42 over the bytes, as Paimon's hash of a row is over its
words. Writers assign buckets themselves; they check that the expression said the same.

Source: apache/paimon@1.3.1 ``org.apache.paimon.data.BinaryRow``, ``…utils.MurmurHashUtils``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions
from pyspark.sql import types as st

from paimonlab.spark.jvm.expressions import call_static, micros_of, unscaled
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.values.types import to_spark
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot

if TYPE_CHECKING:
    from pyspark.sql import Column

    from paimonlab.spark.jvm.bridge import Bridge

_MAX_KEYS = 56
"""More fields than this need a second word for their null bits."""
_HEADER_BITS = 8
_SLOT_BYTES = 8
_INLINE_BYTES = 7
"""Text and bytes up to this length stand in the slot itself."""
_MAX_COMPACT_DECIMAL = 18
_NANOS = 1000
"""Of a microsecond; as many microseconds are a millisecond."""
_BYTES_UTILS = "org.apache.parquet.bytes.BytesUtils"

_WHOLE = {
    TypeRoot.TINYINT: 0xFF,
    TypeRoot.SMALLINT: 0xFFFF,
    TypeRoot.INT: 0xFFFFFFFF,
}
"""Bits of a slot that a narrow integer takes."""
_TEXT = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY})
_INSTANTS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
_MICROS = 6
"""Digits of a second that Spark's timestamps have; with fewer, or more, Paimon's bytes differ."""
_FIXED = frozenset(
    {*_WHOLE, TypeRoot.BIGINT, TypeRoot.BOOLEAN, TypeRoot.DATE, TypeRoot.FLOAT, TypeRoot.DOUBLE}
)


def has_expression(bucket_keys: Sequence[DataField]) -> bool:
    """Say whether `bucket_of` knows all types of a bucket key."""
    return len(bucket_keys) <= _MAX_KEYS and all(_is_known(field) for field in bucket_keys)


def bucket_of(bridge: Bridge, bucket_keys: Sequence[DataField], total_buckets: int) -> Column:
    """Make the expression of the bucket of a row.

    Parameters
    ----------
    bridge
        The session.
    bucket_keys
        The bucket key, in the order of the table's definition.
    total_buckets
        Buckets of a partition.
    """
    return functions.abs(hash_of(bridge, bucket_keys) % functions.lit(total_buckets))


def hash_of(bridge: Bridge, fields: Sequence[DataField]) -> Column:
    """Make the expression of the hash of the BinaryRow of some columns, INT."""
    return functions.hash(_binary_row(bridge, fields))


def _is_known(field: DataField) -> bool:
    kind = field.type
    if not isinstance(kind, AtomicType):
        return False
    if kind.root is TypeRoot.DECIMAL:
        return (kind.precision or 0) <= _MAX_COMPACT_DECIMAL
    if kind.root in _INSTANTS:
        return kind.precision == _MICROS
    return kind.root in _TEXT or kind.root in _FIXED


def _binary_row(bridge: Bridge, fields: Sequence[DataField]) -> Column:
    header = functions.lit(0).cast("bigint")
    offset = functions.lit(_SLOT_BYTES * (1 + len(fields)))
    slots: list[Column] = []
    tails: list[Column] = []
    for index, field in enumerate(fields):
        value = functions.col(quoted(field.name))
        flag = functions.lit(1 << (index + _HEADER_BITS)).cast("bigint")
        header = header.bitwiseOR(functions.when(value.isNull(), flag).otherwise(0))
        if _is_text(field):
            data = functions.coalesce(value.cast("binary"), functions.lit(b""))
            slots.append(_text_slot(bridge, value, data, offset))
            tails.append(_tail(data))
            offset = offset + functions.length(tails[-1])
        elif _is_instant(field):
            instant = micros_of(bridge, value, to_spark(field.type, column=field.name))
            micros = functions.coalesce(instant, functions.lit(0))
            nanos = _math(bridge, "floorMod", st.IntegerType(), micros) * _NANOS
            slots.append(_little_endian(bridge, _placed(offset, nanos)))
            tails.append(_little_endian(bridge, _math(bridge, "floorDiv", st.LongType(), micros)))
            offset = offset + _SLOT_BYTES
        else:
            bits = functions.coalesce(_slot_bits(bridge, field, value), functions.lit(0))
            slots.append(_little_endian(bridge, bits.cast("bigint")))
    return functions.concat(_little_endian(bridge, header), *slots, *tails)


def _is_text(field: DataField) -> bool:
    return isinstance(field.type, AtomicType) and field.type.root in _TEXT


def _is_instant(field: DataField) -> bool:
    return isinstance(field.type, AtomicType) and field.type.root in _INSTANTS


def _math(bridge: Bridge, method: str, result: st.DataType, micros: Column) -> Column:
    """Divide microseconds into milliseconds and what is left, rounding down."""
    divisor = (functions.lit(_NANOS), "int")
    return call_static(bridge, "java.lang.Math", method, result, (micros, "bigint"), divisor)


def _placed(offset: Column, low: Column) -> Column:
    """Make a slot that says where the value is: the offset, then 32 bits of its own."""
    return functions.shiftleft(offset.cast("bigint"), 32).bitwiseOR(low.cast("bigint"))


def _slot_bits(bridge: Bridge, field: DataField, value: Column) -> Column:
    assert isinstance(field.type, AtomicType), "only atomic types are known"
    root = field.type.root
    match root:
        case TypeRoot.BOOLEAN:
            return value.cast("int")
        case TypeRoot.DATE:
            return _narrow(functions.unix_date(value), TypeRoot.INT)
        case TypeRoot.FLOAT:
            bits = call_static(
                bridge, "java.lang.Float", "floatToRawIntBits", st.IntegerType(), (value, "float")
            )
            return _narrow(bits, TypeRoot.INT)
        case TypeRoot.DOUBLE:
            return call_static(
                bridge, "java.lang.Double", "doubleToRawLongBits", st.LongType(), (value, "double")
            )
        case TypeRoot.DECIMAL:
            return unscaled(bridge, value)
    return value if root is TypeRoot.BIGINT else _narrow(value, root)


def _narrow(value: Column, root: TypeRoot) -> Column:
    return value.cast("bigint").bitwiseAND(functions.lit(_WHOLE[root]).cast("bigint"))


def _little_endian(bridge: Bridge, value: Column) -> Column:
    return call_static(bridge, _BYTES_UTILS, "longToBytes", st.BinaryType(), (value, "bigint"))


def _text_slot(bridge: Bridge, value: Column, data: Column, offset: Column) -> Column:
    length = functions.length(data)
    marks = functions.lit(bytes(range(0x80, 0x80 + _INLINE_BYTES + 1)))
    mark = functions.substring(marks, length + 1, functions.lit(1))
    inline = functions.concat(
        functions.rpad(data, functions.lit(_INLINE_BYTES), functions.lit(b"\0")), mark
    )
    return (
        functions.when(value.isNull(), functions.lit(bytes(_SLOT_BYTES)))
        .when(length <= _INLINE_BYTES, inline)
        .otherwise(_little_endian(bridge, _placed(offset, length)))
    )


def _tail(data: Column) -> Column:
    """Bytes after the slots: the text, padded to whole words, unless it fits in its slot."""
    length = functions.length(data)
    padded = functions.shiftleft(functions.shiftright(length + (_SLOT_BYTES - 1), 3), 3)
    return functions.when(length <= _INLINE_BYTES, functions.lit(b"")).otherwise(
        functions.rpad(data, padded, functions.lit(b"\0"))
    )
