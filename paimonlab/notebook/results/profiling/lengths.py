"""How long texts are."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_scalar


@dataclass(frozen=True, slots=True)
class Lengths:
    """Of texts in characters, of binary values in bytes."""

    shortest: int
    longest: int
    total: int
    longest_value: pa.Scalar
    """The least of those that are the longest."""

    @staticmethod
    def of(values: pa.Array) -> Lengths | None:
        """Measure values without nulls; None if there are none."""
        if not len(values):
            return None
        is_binary = pa.types.is_binary(values.type)
        lengths = (pc.binary_length if is_binary else pc.utf8_length)(values)
        ends = pc.min_max(lengths).as_py()
        longest = values.filter(pc.equal(lengths, arrow_scalar(ends["max"])))
        total = pc.sum(lengths.cast(pa.int64())).as_py()
        return Lengths(ends["min"], ends["max"], total, pc.min(longest))

    def __add__(self, other: Lengths) -> Lengths:
        longest = max(self.longest, other.longest)
        candidates = [lengths for lengths in (self, other) if lengths.longest == longest]
        return Lengths(
            min(self.shortest, other.shortest),
            longest,
            self.total + other.total,
            min((lengths.longest_value for lengths in candidates), key=_sort_key),
        )


def _sort_key(value: pa.Scalar) -> bytes:
    text = value.as_py()
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
