"""Let a data file of any format say what it says of itself."""

from __future__ import annotations

from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.formats.data_format import READABLE, format_of
from paimonlab.formats.description import FileDescription
from paimonlab.storage import FileIO


def describe(file_io: FileIO, path: str) -> FileDescription:
    """Read what a data file says of itself, and compute the checksums of its pages.

    Raises
    ------
    CorruptDataError
        If the file is missing or damaged.
    UnsupportedError
        If the format is not implemented.
    """
    try:
        return _describe(file_io, path)
    except FileNotFoundError as error:
        raise CorruptDataError(path, "the file is missing") from error


def _describe(file_io: FileIO, path: str) -> FileDescription:
    # Few tables have more than one format.
    match format_of(path):
        case "parquet":
            from paimonlab.formats.parquet.description import describe_parquet  # noqa: PLC0415

            return describe_parquet(file_io, path)
        case "orc":
            from paimonlab.formats.orc.description import describe_orc  # noqa: PLC0415

            return describe_orc(file_io, path)
        case "avro":
            from paimonlab.formats.avro.description import describe_avro  # noqa: PLC0415

            return describe_avro(file_io, path)
        case other:
            raise UnsupportedError(
                f"file.format = '{other}'",
                f"{path} has this format; only {', '.join(READABLE)} can be read",
            )
