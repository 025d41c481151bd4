"""Hash index files: the hashes of all keys of a bucket, big-endian int32 in any order.

Source: apache/paimon@1.3.1 ``org.apache.paimon.index.HashIndexFile``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paimonlab.errors import CorruptMetadataError

_BYTES = 4


def decode_hashes(data: bytes, *, rows: int, path: str) -> npt.NDArray[np.int32]:
    """Decode a hash index file.

    Parameters
    ----------
    data
        The whole file.
    rows
        Hashes that the index manifest says it has.
    path
        For the message.

    Returns
    -------
    (rows,) int32

    Raises
    ------
    CorruptMetadataError
        If the file has another size.
    """
    if len(data) != rows * _BYTES:
        raise CorruptMetadataError(
            path, f"it has {len(data):,} bytes, {rows:,} hashes take {rows * _BYTES:,}"
        )
    return np.frombuffer(data, ">i4").astype(np.int32)


def encode_hashes(hashes: npt.NDArray[np.int32]) -> bytes:
    """Encode a hash index file.

    >>> encode_hashes(np.array([1, -1], np.int32)).hex()
    '00000001ffffffff'
    """
    return hashes.astype(">i4").tobytes()
