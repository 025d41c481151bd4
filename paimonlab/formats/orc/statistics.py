"""Statistics of the stripes of an ORC file, as predicates are pruned by."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from paimonlab.formats.orc import tail as orc
from paimonlab.formats.orc.protobuf import Message
from paimonlab.formats.orc.tail import OrcTail
from paimonlab.spec.predicates.predicate import ColumnStats
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField

_WHOLE = (orc.BYTE, orc.SHORT, orc.INT, orc.LONG)
_TEXTS = (orc.STRING, orc.VARCHAR)


def stripe_stats(tail: OrcTail, fields: Sequence[DataField]) -> dict[str, ColumnStats]:
    """Collect bounds and null counts of columns.

    Parameters
    ----------
    tail
        The end of the file.
    fields
        Columns and their types; bounds of floats, times and instants are not used.

    Returns
    -------
    dict of str to ColumnStats
        By column name, each with one value per stripe; null where unknown.
    """
    if not tail.stripe_statistics:
        return {}
    stats = {}
    for field in fields:
        number = tail.columns.get(field.name)
        if number is not None and isinstance(field.type, AtomicType):
            stats[field.name] = _column_stats(tail, number, to_arrow(field.type))
    return stats


def _column_stats(tail: OrcTail, number: int, target: pa.DataType) -> ColumnStats:
    kind = tail.types[number].kind
    lows, highs, nulls = [], [], []
    for stripe, statistics in zip(tail.stripes, tail.stripe_statistics, strict=True):
        message = statistics[number]
        low, high = bounds(message, kind)
        is_known = low is not None and high is not None
        lows.append(low if is_known else None)
        highs.append(high if is_known else None)
        nulls.append(stripe.row_count - message.number(1) if 1 in message.values else None)
    counts = pa.array([stripe.row_count for stripe in tail.stripes], pa.int64())
    try:
        least, most = (_array(values, kind, target) for values in (lows, highs))
    except (pa.ArrowException, ValueError, OverflowError):
        least = most = pa.nulls(len(counts), target)  # unknown statistics only cost time
    return ColumnStats(least, most, pa.array(nulls, pa.int64()), counts)


def bounds(one: Message, kind: int) -> tuple[Any, Any]:
    """Return the least and the largest value as the file has them, None where they are unknown.

    Whole numbers, days of dates, bytes of texts and of the digits of decimals.

    Parameters
    ----------
    one
        Statistics of a column.
    kind
        Its type, a number of `orc_tail`.
    """
    if kind in _WHOLE and (message := one.message(2)):
        return message.zigzag(1), message.zigzag(2)
    if kind == orc.DATE and (message := one.message(7)):
        return message.zigzag(1), message.zigzag(2)
    if kind in _TEXTS and (message := one.message(4)):
        return message.single(1), message.single(2)
    if kind == orc.DECIMAL and (message := one.message(6)):
        return message.single(1), message.single(2)
    return None, None


def _array(values: list[Any], kind: int, target: pa.DataType) -> pa.Array:
    if kind in _WHOLE:
        return pa.array(values, pa.int64()).cast(target)
    if kind == orc.DATE:
        return pa.array(values, pa.int32()).cast(target)
    if kind == orc.DECIMAL and pa.types.is_decimal(target):
        numbers = [None if value is None else Decimal(value.decode()) for value in values]
        return pa.array(numbers, target)
    if kind in _TEXTS:
        return pa.array(values, pa.binary()).cast(target)
    return pa.nulls(len(values), target)
