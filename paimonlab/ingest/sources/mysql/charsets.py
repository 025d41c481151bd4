"""Texts in the charsets of MySQL, as UTF-8 columns.

Source: MySQL Reference Manual, "Supported Character Sets and Collations". ``latin1`` is cp1252 with
the five missing characters as control characters.
"""

from __future__ import annotations

import codecs
import functools

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import UnsupportedError

BINARY = "binary"
_UTF8 = ("utf8mb4", "utf8mb3", "utf8", "ascii")
_SINGLE = {
    "latin1": "cp1252",
    "latin2": "iso8859_2",
    "latin5": "iso8859_9",
    "latin7": "iso8859_13",
    "greek": "iso8859_7",
    "hebrew": "iso8859_8",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "cp850": "cp850",
    "cp852": "cp852",
    "cp866": "cp866",
    "koi8r": "koi8_r",
    "koi8u": "koi8_u",
    "tis620": "tis_620",
    "macroman": "mac_roman",
    "macce": "mac_latin2",
}
_WIDE = {"ucs2": "utf_16_be", "utf16": "utf_16_be", "utf16le": "utf_16_le", "utf32": "utf_32_be"}
_MANY = {
    "gbk": "gbk",
    "gb2312": "gb2312",
    "gb18030": "gb18030",
    "big5": "big5",
    "sjis": "shift_jis",
    "cp932": "cp932",
    "ujis": "euc_jp",
    "eucjpms": "euc_jp",
    "euckr": "cp949",
}
LONGEST = {
    **dict.fromkeys(("utf8mb4", "utf16", "utf16le", "utf32", "gb18030"), 4),
    **dict.fromkeys(("utf8mb3", "utf8", "ujis", "eucjpms"), 3),
    **dict.fromkeys(("ucs2", "gbk", "gb2312", "big5", "sjis", "cp932", "euckr"), 2),
}
"""Bytes of the longest character; 1 where it is not listed."""


def is_readable(charset: str) -> bool:
    """Whether texts of a charset can be decoded."""
    return any(charset in known for known in ((BINARY,), _UTF8, _SINGLE, _WIDE, _MANY))


def decoded(values: pa.Array, charset: str) -> pa.Array:
    """Return texts of a charset as a string array.

    Raises
    ------
    UnsupportedError
        If the charset is not known here.
    ValueError
        If a text has bytes that are no characters.
    """
    if charset in _UTF8 or (charset not in _WIDE and _is_ascii(values)):
        return values.cast(pa.string())
    if charset in _SINGLE:
        return _by_table(values, charset)
    name = _WIDE.get(charset) or _MANY.get(charset)
    if name is None:
        raise UnsupportedError(f"charset {charset} of MySQL", "ALTER TABLE … CONVERT TO … utf8mb4")
    return arrow_array(
        [None if value is None else value.decode(name) for value in values.to_pylist()],
        pa.string(),
    )


def decoded_one(value: bytes, charset: str) -> str:
    """Return one text."""
    found: str = decoded(arrow_array([value], pa.binary()), charset)[0].as_py()
    return found


def _data(values: pa.Array) -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], memoryview]:
    """Return the offsets of values and the bytes that they are in."""
    _, offsets, data = values.buffers()
    places = np.frombuffer(offsets, np.int32, len(values) + 1, values.offset * 4)
    return places, memoryview(data) if data is not None else memoryview(b"")


def _is_ascii(values: pa.Array) -> bool:
    places, data = _data(values)
    found = np.frombuffer(data, np.uint8)[places[0] : places[-1]]
    return not len(found) or int(found.max()) < 128


@functools.cache
def _table(charset: str) -> tuple[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return each byte's character, and how many bytes that takes in UTF-8."""
    decode = codecs.lookup(_SINGLE[charset]).decode
    characters = "".join(decode(bytes([byte]), "ignore")[0] or chr(byte) for byte in range(256))
    sizes = np.array([len(character.encode()) for character in characters], np.int64)
    return characters, sizes


def _by_table(values: pa.Array, charset: str) -> pa.Array:
    """Decode all texts at once: each byte is a character."""
    characters, sizes = _table(charset)
    places, data = _data(values)
    found = bytes(data[places[0] : places[-1]])
    text = found.decode("latin-1").translate(dict(enumerate(characters))).encode()
    ends = np.zeros(len(found) + 1, np.int64)
    np.cumsum(sizes[np.frombuffer(found, np.uint8)], out=ends[1:])
    offsets = ends[places - places[0]].astype(np.int32)
    validity = None
    if values.null_count:
        is_valid = numpy_values(values.is_valid(), zero_copy_only=False)
        validity = pa.py_buffer(np.packbits(is_valid, bitorder="little"))
    return pa.Array.from_buffers(
        pa.string(), len(values), [validity, pa.py_buffer(offsets), pa.py_buffer(text)]
    )
