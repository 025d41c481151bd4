"""Rows of a query as files of a folder, written as Spark's writers do.

Source: apache/spark@v4.2.0 ``UnivocityGenerator``, ``CSVOptions``, ``JacksonGenerator``,
``FileFormatWriter``: one part, a mark of success, NULL left out in JSON and nothing in CSV.
"""

from __future__ import annotations

import bz2
import gzip
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from paimonlab.errors import SchemaError
from paimonlab.formats.foreign_files import write_parquet
from paimonlab.progress import Progress
from paimonlab.spec.sql_text.copy_syntax import CopyFormat, CopyIntoFolder
from paimonlab.sql_engine import engine, kinds
from paimonlab.sql_engine.engine import EngineOptions, Planned
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions import clocks, doubles
from paimonlab.sql_engine.kinds import spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, quoted

_PACKED: Mapping[str, tuple[str, Callable[[bytes], bytes]]] = {
    "none": ("", bytes),
    "uncompressed": ("", bytes),
    "gzip": (".gz", gzip.compress),
    "bzip2": (".bz2", bz2.compress),
}
_PARQUET = {
    "none": ("", "none"),
    "uncompressed": ("", "none"),
    "snappy": (".snappy", "snappy"),
    "gzip": (".gz", "gzip"),
    "zstd": (".zstd", "zstd"),
}
_MOST_SCALE = 6
"""Java writes decimals of more digits after the point with exponents."""


def unload(
    said: CopyIntoFolder,
    writer: Mapping[str, str],
    folder: Path,
    planned: Planned,
    options: EngineOptions,
    progress: Progress | None,
) -> int:
    """Write the rows of a query, and return how many there are.

    Raises
    ------
    NotTranslatedError
        If a value is not proven to be written as by Spark, or an option is not.
    SchemaError
        If the folder is there and is not to be replaced.
    """
    if folder.exists() and not said.is_overwrite:
        raise SchemaError(
            f"COPY INTO '{said.target}': the folder is there; OVERWRITE = TRUE replaces what it has"
        )
    if said.format is CopyFormat.PARQUET:
        codec = writer.get("compression", "snappy").lower()
        if codec not in _PARQUET:
            raise NotTranslatedError(f"COMPRESSION = {codec}", "COMPRESSION")
        rows = engine.run(planned, options, progress)
        ending, name = f"{_PARQUET[codec][0]}.parquet", _PARQUET[codec][1]

        def write(path: Path) -> None:
            write_parquet(str(path), rows, name)

        count = rows.num_rows
    else:
        codec = writer.get("compression", "none").lower()
        if codec not in _PACKED:
            raise NotTranslatedError(f"COMPRESSION = {codec}", "COMPRESSION")
        kind = said.format.value.lower()
        make = _csv if said.format is CopyFormat.CSV else _json
        lines = engine.run(make(planned, writer), options, progress).column(0).to_pylist()
        count = len(lines)
        if said.format is CopyFormat.CSV and writer.get("header") == "true":
            names = [name for name, _ in planned.columns]
            lines.insert(0, _header(names, writer))
        ending, pack = f".{kind}{_PACKED[codec][0]}", _PACKED[codec][1]
        data = "".join(f"{line}\n" for line in lines).encode()

        def write(path: Path) -> None:
            path.write_bytes(pack(data))

    _replace(folder, f"part-00000-{uuid.uuid4()}-c000{ending}", write)
    return count


def _replace(folder: Path, name: str, write: Callable[[Path], None]) -> None:
    """Write a file beside the folder, then let the folder be that alone."""
    beside = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}")
    beside.mkdir(parents=True)
    try:
        write(beside / name)
        (beside / "_SUCCESS").touch()
        if folder.is_dir():
            shutil.rmtree(folder)
        elif folder.exists():
            folder.unlink()
        beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _lines_of(planned: Planned, line: str) -> Planned:
    names = ", ".join(f"o{number}" for number in range(len(planned.columns)))
    text = f"SELECT {line} FROM ({planned.text}) AS q({names})"
    return Planned(text, [("line", kinds.STRING)], planned.parts, planned.shown)


def _texts(planned: Planned, kind: CopyFormat) -> list[str]:
    return [
        _text(Value(f"o{number}", found, name), kind)
        for number, (name, found) in enumerate(planned.columns)
    ]


def _text(value: Value, format_: CopyFormat) -> str:
    """Write a value as text.

    Raises
    ------
    NotTranslatedError
        If its type has no form that is proven.
    """
    found, sql = value.kind, value.text
    if found == kinds.DOUBLE:
        return doubles.written(sql)
    is_short = kinds.is_decimal(found) and kinds.shape(found)[1] <= _MOST_SCALE
    if kinds.is_whole(found) or is_short or found in (kinds.BOOLEAN, kinds.STRING, kinds.DATE):
        return f"CAST({sql} AS VARCHAR)"
    if found in (kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ):
        message = fails(f"{NOT_PROVEN}: a time with microseconds as text")
        clock = clocks.shown(value).text
        text = f"strftime({clock}, '%Y-%m-%dT%H:%M:%S.%g')"
        if found == kinds.TIMESTAMP:
            if clocks.zone() != "UTC":
                raise NotTranslatedError(
                    f"TIMESTAMP in files of {format_.value} but in UTC", value.name
                )
            text = f"({text} || 'Z')"
        return f"(CASE WHEN epoch_us({sql}) % 1000 <> 0 THEN {message} ELSE {text} END)"
    raise NotTranslatedError(f"{spark_type(found)} in files of {format_.value}", value.name)


def _csv(planned: Planned, writer: Mapping[str, str]) -> Planned:
    separator, quote, escape = _signs(writer)
    outputs = []
    for plain, (_, found) in zip(_texts(planned, CopyFormat.CSV), planned.columns, strict=True):
        text = plain
        if found == kinds.STRING:
            text = _csv_text(plain, separator, quote, escape)
        elif separator != ",":
            message = fails(f"{NOT_PROVEN}: FIELD_DELIMITER within a value")
            text = (
                f"(CASE WHEN contains({plain}, {quoted(separator)}) THEN {message} "
                f"ELSE {plain} END)"
            )
        outputs.append(f"coalesce({text}, '')")
    line = f" || {quoted(separator)} || ".join(outputs)
    if len(outputs) == 1:
        message = fails(f"{NOT_PROVEN}: NULL alone in a row of CSV")
        line = f"(CASE WHEN {line} = '' THEN {message} ELSE {line} END)"
    return _lines_of(planned, line)


def _signs(writer: Mapping[str, str]) -> tuple[str, str, str]:
    given = {"sep": ",", "quote": '"', "escape": "\\"} | {**writer}
    signs = (given["sep"].replace("\\t", "\t"), given["quote"], given["escape"])
    if any(len(sign) != 1 or (not sign.isprintable() and sign != "\t") for sign in signs):
        raise NotTranslatedError("FIELD_DELIMITER, QUOTE and ESCAPE of one character", "QUOTE")
    return signs


def _csv_text(sql: str, separator: str, quote: str, escape: str) -> str:
    message = fails(f"{NOT_PROVEN}: such a text in CSV")
    sign, comma = quoted(quote), quoted(separator)
    inner = f"replace({sql}, {sign}, {quoted(escape + quote)})"
    # Spark's writer takes blanks around values away, and has rules of its own for these.
    odd = f"regexp_matches({sql}, '(?s)^[\\x00-\\x20]|[\\x00-\\x20]$|[\\x00-\\x1F\\x7F]|^#')"
    if escape != quote:
        odd = f"{odd} OR contains({sql}, {quoted(escape)})"
    return (
        f"(CASE WHEN {sql} = '' THEN {quoted(quote * 2)} WHEN {odd} THEN {message} "
        f"WHEN contains({sql}, {sign}) OR contains({sql}, {comma}) "
        f"THEN {sign} || {inner} || {sign} ELSE {sql} END)"
    )


def _header(names: Sequence[str], writer: Mapping[str, str]) -> str:
    separator, *others = _signs(writer)
    for name in names:
        if (
            not name
            or {separator, *others} & set(name)
            or name != name.strip()
            or not name.isprintable()
        ):
            raise NotTranslatedError(f"HEADER with the name {name!r}", "HEADER")
    return separator.join(names)


def _json(planned: Planned, writer: Mapping[str, str]) -> Planned:
    for key in ("dateFormat", "timestampFormat"):
        if key in writer:
            shown = "DATE_FORMAT" if key == "dateFormat" else "TIMESTAMP_FORMAT"
            raise NotTranslatedError(shown, shown)
    members: list[str] = []
    for text, (name, found) in zip(_texts(planned, CopyFormat.JSON), planned.columns, strict=True):
        if not name.isprintable() or '"' in name or "\\" in name:
            raise NotTranslatedError(f"the column {name!r} in files of JSON", name)
        value = text
        if found == kinds.STRING:
            message = fails(f"{NOT_PROVEN}: such a text in JSON")
            value = (
                f"(CASE WHEN regexp_matches({text}, '[\\x00-\\x1F\\x7F]') THEN {message} "
                f"ELSE to_json({text})::VARCHAR END)"
            )
        elif found in (kinds.DATE, kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ):
            value = f"('\"' || {text} || '\"')"
        elif found == kinds.DOUBLE:
            message = fails(f"{NOT_PROVEN}: such a DOUBLE in JSON")
            plain = f"o{len(members)}"
            value = (
                f"(CASE WHEN isfinite({plain}) THEN {text} "
                f"WHEN {plain} IS NOT NULL THEN {message} END)"
            )
        begin = quoted(f'"{name}":')
        members.append(f"({begin} || {value})")
    return _lines_of(planned, f"('{{' || concat_ws(',', {', '.join(members)}) || '}}')")
