"""What a data file says of itself: its parts, and each column of each part."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from paimonlab.secrets import hides_secrets

_MOST_CHARACTERS = 80
MOST_CHECKED_BYTES = 64 << 20
"""Pages of larger files are counted, their checksums are not computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The pages of a column of a row group."""

    count: int
    """Dictionary pages included."""
    checksum_count: int
    """Those that have a checksum."""
    wrong_count: int | None
    """Those whose checksum does not agree with their bytes; None: the file is too large to look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChunk:
    """A column of a row group, stripe or run of blocks."""

    name: str
    """Parts of nested columns have the path to them, with points."""
    type_text: str
    """In the words of the format."""
    encodings: tuple[str, ...]
    compression: str
    stored_bytes: int | None
    """None: the format does not say, as Avro, which stores rows."""
    plain_bytes: int | None
    """Before compression; None: unknown."""
    low: str | None
    """The least value as text, shortened; None if unknown, or if there is none."""
    high: str | None
    null_count: int | None
    pages: Pages | None
    """None: the format has no pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A row group (Parquet), a stripe (ORC) or a run of blocks (Avro)."""

    first_row: int
    row_count: int
    stored_bytes: int
    columns: tuple[ColumnChunk, ...]


@hides_secrets
@dataclass(frozen=True, slots=True, kw_only=True)
class FileDescription:
    """A data file."""

    format: str
    """``parquet``, ``orc`` or ``avro``."""
    version: str
    """Of the format, as the file says; "" if it does not."""
    written_by: str
    """"" if the file does not say."""
    size_bytes: int
    row_count: int
    parts: tuple[FilePart, ...]
    properties: Mapping[str, str]
    """Further texts by name, shortened."""


def bound_text(value: object) -> str | None:
    """Write a bound, shortened; bytes that are not text in hexadecimal digits.

    Examples
    --------
    >>> bound_text(3), bound_text(b"ab"), bound_text(bytes([255, 0])), bound_text(None)
    ('3', 'ab', '0xff00', None)
    """
    if value is None:
        return None
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = "0x" + value[:_MOST_CHARACTERS].hex()
    else:
        is_moment = isinstance(value, dt.datetime)
        text = value.isoformat(" ") if is_moment else str(value)  # type: ignore[attr-defined]
    return short(text)


def short(text: str) -> str:
    """Cut a long text."""
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "…"
