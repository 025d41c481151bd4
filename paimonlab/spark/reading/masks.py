"""Winner masks: which rows of a file are rows of the table.

A mask is given to Spark as a constant partition value of its file and tested inside the native
scan: bit ``i`` of the mask, counted from the lowest bit of the first byte, is row ``i`` of the
file. Files in which every row wins have no mask; files in which no row wins are not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyspark.sql import functions
from pyspark.sql import types as st

from paimonlab.spark.jvm.expressions import call_static

if TYPE_CHECKING:
    from pyspark.sql import Column

    from paimonlab.spark.jvm.bridge import Bridge

MASK_COLUMN = "__paimon_winners"
"""Partition column of a scan that holds the mask of the file at hand."""
MASK_SCHEMA = st.StructType([st.StructField(MASK_COLUMN, st.BinaryType())])

_WORD_BYTES = 4
_BYTE_BITS_LOG2 = 3


@dataclass(frozen=True, slots=True)
class FileMask:
    """The winners of one file."""

    bits: bytes | None
    """Packed, whole words; None: every row wins, or none does."""
    is_empty: bool = False
    """Whether no row wins."""

    def count(self, rows: int) -> int:
        """Count the winners of a file with so many rows."""
        if self.is_empty:
            return 0
        return rows if self.bits is None else int.from_bytes(self.bits).bit_count()

    @property
    def size_bytes(self) -> int:
        """Bytes that keeping the mask costs, roughly."""
        return 100 + len(self.bits or b"")


def pack(mask: npt.NDArray[np.bool_]) -> FileMask:
    r"""Pack the mask of one file.

    Parameters
    ----------
    mask : (n,) bool
        True where the row of the file is a row of the table.

    Examples
    --------
    >>> pack(np.array([True, False, True])).bits
    b'\x05\x00\x00\x00'
    >>> pack(np.array([True, True])).bits is None
    True
    """
    if mask.all():
        return FileMask(None)
    if not mask.any():
        return FileMask(None, is_empty=True)
    packed = np.packbits(mask, bitorder="little")
    return FileMask(np.pad(packed, (0, -len(packed) % _WORD_BYTES)).tobytes())


def is_winner(bridge: Bridge) -> Column:
    """Make the condition that tests the mask of the row at hand.

    Notes
    -----
    Spark has no function that takes one bit of a BINARY without copying; a static method of
    parquet-common, which Spark cannot be without, reads the word that holds it. Copying one byte
    a row (``substring``) costs as much but a mask of eight times the size.
    """
    row = functions.col("_metadata.row_index").cast("int")
    first_byte = functions.shiftright(row, _BYTE_BITS_LOG2).bitwiseAND(-_WORD_BYTES)
    word = call_static(
        bridge,
        "org.apache.parquet.bytes.BytesUtils",
        "readIntLittleEndian",
        st.IntegerType(),
        (functions.col(MASK_COLUMN), "binary"),
        (first_byte, "int"),
    )
    # Java shifts by the lowest five bits of a number: those of ~row are 31 less the place of the
    # bit in the word, which so becomes the sign.
    sign = functions.call_function("shiftleft", word, functions.bitwise_not(row))
    return functions.col(MASK_COLUMN).isNull() | (sign < 0)
