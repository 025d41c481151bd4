"""Aggregate functions whose values are serialised bitmaps and sketches.

What comes out has the bytes that Java writes, but for the HIP accumulator of a united HLL sketch,
which nothing reads there, and for the order of a 64-bit bitmap's containers.

Source: apache/paimon@1.3.1 ``FieldRoaringBitmap32Agg``, ``FieldRoaringBitmap64Agg``,
``FieldHllSketchAgg``, ``FieldThetaSketchAgg`` of
``org.apache.paimon.mergetree.compact.aggregate``, and their helpers in ``org.apache.paimon.utils``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.interrupts import interrupts_held_back
from paimonlab.merge import bitmap64
from paimonlab.merge.fold import Fold, skipping_nulls

_PREAMBLE_LONGS = 0x3F
_PROBABILITY = slice(12, 16)
_ONE = struct.pack("<f", 1.0)


def sketch_fold(column: pa.Array, function: str) -> Fold:
    """Fold that unites sketches."""
    return Fold(
        value=lambda position: column[position].as_py(),
        add=skipping_nulls(SKETCHES[function]),
        retract=None,
        column=lambda values: arrow_array(values, column.type),
    )


def _unite_bitmaps(old: bytes, new: bytes) -> bytes:
    with interrupts_held_back():
        from pyroaring import BitMap  # noqa: PLC0415 - only where a table has bitmaps

    united = BitMap.deserialize(old) | BitMap.deserialize(new)
    united.run_optimize()
    serialized: bytes = united.serialize()
    return serialized


def _unite_hll(old: bytes, new: bytes) -> bytes:
    with interrupts_held_back():
        from datasketches import hll_sketch, hll_union, tgt_hll_type  # noqa: PLC0415 - as above

    newer = hll_sketch.deserialize(new)
    union = hll_union(newer.lg_config_k)
    union.update(newer)
    union.update(hll_sketch.deserialize(old))
    serialized: bytes = union.get_result(tgt_hll_type.HLL_4).serialize_compact()
    return serialized


def _unite_theta(old: bytes, new: bytes) -> bytes:
    with interrupts_held_back():
        from datasketches import compact_theta_sketch, theta_union  # noqa: PLC0415 - as above

    union = theta_union(12)  # 4096 entries, Java's default
    for sketch in (old, new):
        union.update(compact_theta_sketch.deserialize(sketch))
    serialized = bytearray(union.get_result().serialize())
    if serialized[0] & _PREAMBLE_LONGS >= 2:
        serialized[_PROBABILITY] = _ONE  # Java tells the sampling probability, C++ nothing
    return bytes(serialized)


SKETCHES: Mapping[str, Callable[[bytes, bytes], bytes]] = {
    "rbm32": _unite_bitmaps,
    "rbm64": bitmap64.unite,
    "hll_sketch": _unite_hll,
    "theta_sketch": _unite_theta,
}
"""What unites two values, by aggregate function."""
