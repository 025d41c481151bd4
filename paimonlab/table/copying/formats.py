"""Options of the files of ``COPY INTO``, by the names that Spark's readers and writers have.

Every engine takes them so: what an option means is what it means to Spark.

Source: apache/paimon@5dacde5 ``CopyOptions.scala``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paimonlab.errors import UnsupportedError
from paimonlab.spec.sql_text.copy_syntax import CopyFormat, FormatValue

_READ = {
    CopyFormat.CSV: {"FIELD_DELIMITER": "sep", "QUOTE": "quote", "ESCAPE": "escape"},
    CopyFormat.JSON: {"MULTI_LINE": "multiLine"},
    CopyFormat.PARQUET: {},
}
_WRITTEN = {
    CopyFormat.CSV: {
        "FIELD_DELIMITER": "sep",
        "HEADER": "header",
        "QUOTE": "quote",
        "ESCAPE": "escape",
        "COMPRESSION": "compression",
    },
    CopyFormat.JSON: {
        "COMPRESSION": "compression",
        "DATE_FORMAT": "dateFormat",
        "TIMESTAMP_FORMAT": "timestampFormat",
    },
    CopyFormat.PARQUET: {"COMPRESSION": "compression"},
}
_BOOLEANS = frozenset({"HEADER", "MULTI_LINE", "EMPTY_FIELD_AS_NULL"})
_ENDINGS = {
    "BZIP2": ".bz2",
    "DEFLATE": ".deflate",
    "GZIP": ".gz",
    "LZ4": ".lz4",
    "SNAPPY": ".snappy",
    "ZSTD": ".zst",
}


@dataclass(frozen=True, slots=True)
class TextRules:
    """What the texts of CSV and JSON files mean before they are converted."""

    null_texts: tuple[str, ...] = ()
    """Texts that mean NULL."""


def reader_options(
    kind: CopyFormat, given: Mapping[str, FormatValue]
) -> tuple[dict[str, str], TextRules]:
    """Return the options of Spark's reader, and what else there is to be done.

    Raises
    ------
    UnsupportedError
        If an option is unknown for files to load, or has a value that it cannot have.
    """
    options: dict[str, str] = {}
    nulls: list[str] = []
    for key, value in given.items():
        if key in _READ[kind]:
            options[_READ[kind][key]] = _one(key, value)
        elif key == "SKIP_HEADER" and kind is CopyFormat.CSV:
            if value not in {"0", "1"}:
                raise UnsupportedError(f"SKIP_HEADER = {value}", "use 0 or 1")
            options["header"] = str(value == "1").lower()
        elif key == "NULL_IF" and kind is not CopyFormat.PARQUET:
            nulls += [value] if isinstance(value, str) else value
        elif key == "EMPTY_FIELD_AS_NULL" and kind is not CopyFormat.PARQUET:
            nulls += [""] if _one(key, value) == "true" else []
        elif key != "COMPRESSION" or kind is CopyFormat.PARQUET:
            raise _unknown(key, kind, [*_READ[kind], *_OTHERS[kind]])
    return options, TextRules(tuple(nulls))


_OTHERS: Mapping[CopyFormat, Sequence[str]] = {
    CopyFormat.CSV: ("SKIP_HEADER", "NULL_IF", "EMPTY_FIELD_AS_NULL", "COMPRESSION"),
    CopyFormat.JSON: ("NULL_IF", "EMPTY_FIELD_AS_NULL", "COMPRESSION"),
    CopyFormat.PARQUET: (),
}


def check_compression(given: Mapping[str, FormatValue], names: Sequence[str]) -> None:
    """Check that files are named as the compression says: Spark's readers go by their names.

    Raises
    ------
    UnsupportedError
        If one is not.
    """
    if "COMPRESSION" not in given:
        return
    codec = str(given["COMPRESSION"]).upper()
    ending = _ENDINGS.get(codec)
    if ending is None and codec != "NONE":
        raise UnsupportedError(f"COMPRESSION = {codec}", f"one of {', '.join(_ENDINGS)}, NONE")
    for name in names:
        found = next((known for known in _ENDINGS.values() if name.endswith(known)), None)
        if found != ending:
            raise UnsupportedError(
                f"COMPRESSION = {codec} for {name}",
                "Spark tells the compression by the ending of the name "
                f"({', '.join(_ENDINGS.values())}); rename the file, or leave out COMPRESSION",
            )


def writer_options(kind: CopyFormat, given: Mapping[str, FormatValue]) -> dict[str, str]:
    """Return the options of Spark's writer.

    Raises
    ------
    UnsupportedError
        If an option is unknown for files to write, or has a value that it cannot have.
    """
    known = _WRITTEN[kind]
    for key in given:
        if key not in known:
            raise _unknown(key, kind, list(known))
    return {known[key]: _one(key, value) for key, value in given.items()}


def _one(key: str, value: FormatValue) -> str:
    if not isinstance(value, str):
        raise UnsupportedError(f"{key} = {value}", "use one value")
    if key not in _BOOLEANS:
        return value
    if value.upper() not in {"TRUE", "FALSE"}:
        raise UnsupportedError(f"{key} = {value}", "use TRUE or FALSE")
    return value.lower()


def _unknown(key: str, kind: CopyFormat, known: Sequence[str]) -> UnsupportedError:
    return UnsupportedError(
        f"{key} in FILE_FORMAT of COPY INTO with TYPE = {kind.value}",
        f"use one of {', '.join(known)}" if known else "there are no other options",
    )
