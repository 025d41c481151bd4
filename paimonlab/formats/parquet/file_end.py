"""The end of a Parquet file: its footer, the length of that, and a mark."""

from __future__ import annotations

MAGIC = b"PAR1"
"""What a file begins and ends with."""
LENGTH_BYTES = 4


def footer_of(file: bytes | memoryview) -> bytes:
    """Return the footer of a file, or of its last bytes."""
    end = len(file) - LENGTH_BYTES - len(MAGIC)
    size = int.from_bytes(file[end : end + LENGTH_BYTES], "little")
    return bytes(file[end - size : end])


def with_end(footer: bytes) -> bytes:
    """Return a footer and what follows it."""
    return footer + len(footer).to_bytes(LENGTH_BYTES, "little") + MAGIC
