"""Lines of CSV and JSON files as texts, where Spark's readers are known to read the same.

Source: apache/spark@v4.2.0 ``CSVOptions``, ``UnivocityParser``, ``CSVExprUtils``; lines are those
of Hadoop's ``LineRecordReader``. What differs by reader (a quote within a value, an escape of
something else) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from pyarrow import csv

from paimonlab.arrow_values import arrow_array
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.storage import LocalFileIO
from paimonlab.table.format_tables.lines import blocks

_BLANK_LINES = re.compile(rb"(?m)^[\x00-\x20]*\n")
_TAB = {"\\t": "\t"}


def lines_of(path: str) -> bytes:
    """Read a file, decompressed by what its name ends with; each line ends with one character.

    Raises
    ------
    CorruptDataError, UnsupportedError
        If it cannot be decompressed.
    """
    whole = b"".join(
        block if isinstance(block, bytes) else b"\n".join(block)
        for block in blocks(LocalFileIO(), path, "\n")
    )
    if b"\0" in whole:
        raise NotTranslatedError(f"{path} with the character 0", path)
    try:
        whole.decode()
    except UnicodeDecodeError:
        raise NotTranslatedError(f"{path} that is not UTF-8", path) from None
    return _BLANK_LINES.sub(b"", whole)


def csv_rows(path: str, count: int, options: Mapping[str, str]) -> pa.Table:
    """Read a CSV file.

    Parameters
    ----------
    path
        The file.
    count
        How many columns there are.
    options
        Of Spark's reader.

    Returns
    -------
    pyarrow.Table
        ``corrupt``, a line that has more or fewer values, and the texts ``r0``, ``r1`` …, in the
        order of the file.

    Raises
    ------
    NotTranslatedError
        If a line may be read otherwise by Spark.
    """
    lines = lines_of(path)
    if options.get("header") == "true":
        lines = lines.partition(b"\n")[2]
    separator = _sign("FIELD_DELIMITER", options.get("sep", ","))
    quote = _sign("QUOTE", options.get("quote", '"'))
    escape = _sign("ESCAPE", options.get("escape", "\\"))
    if len({separator, quote, escape}) < (2 if quote == escape else 3) or separator == quote:
        raise NotTranslatedError("FIELD_DELIMITER, QUOTE and ESCAPE of one character", "QUOTE")
    is_quoted = quote.encode() in lines
    if is_quoted:
        lines = _unescaped(lines, separator, quote, escape, path)
    return _parsed(lines, count, separator, quote if is_quoted else "")


def _sign(key: str, given: str) -> str:
    sign = _TAB.get(given, given)
    if len(sign) != 1 or not sign.isascii() or sign in "\r\n\0":
        raise NotTranslatedError(f"{key} = {given!r}", key)
    return sign


def _unescaped(lines: bytes, separator: str, quote: str, escape: str, path: str) -> bytes:
    """Write quotes within quoted values twice; check that there is nothing else to be escaped."""
    comma, sign, before = (re.escape(one.encode()) for one in (separator, quote, escape))
    bare = rb"[^%b%b\n]*" % (comma, sign)
    if quote == escape:
        quoted = rb"%b(?:[^%b\n]|%b%b)*%b" % (sign, sign, sign, sign, sign)
    else:
        quoted = rb"%b(?:[^%b%b\n]|%b%b)*%b" % (sign, sign, before, before, sign, sign)
    value = rb"(?:%b|%b)" % (quoted, bare)
    # Possessive, for else lines that do not fit take forever.
    line = re.compile(rb"(?:%b(?:%b%b)*+\n)*+" % (value, comma, value))
    found = line.match(lines)
    end = 0 if found is None else found.end()
    if end < len(lines):
        number = lines.count(b"\n", 0, end) + 1
        hint = "ESCAPE = '\"' reads quotes that are written twice" if quote != escape else ""
        raise NotTranslatedError(f"quotes as in row {number} of {path}", path, hint)
    return (
        lines if quote == escape else lines.replace((escape + quote).encode(), 2 * quote.encode())
    )


def _parsed(lines: bytes, count: int, separator: str, quote: str) -> pa.Table:
    wrong: list[tuple[int, str]] = []

    def keep(row: csv.InvalidRow) -> str:
        wrong.append((row.number or 0, row.text))
        return "skip"

    names = [f"r{number}" for number in range(count)]
    if not lines:
        empty = [pa.nulls(0, pa.string()) for _ in range(count + 1)]
        return pa.Table.from_arrays(empty, names=["corrupt", *names])
    rows = csv.read_csv(
        pa.BufferReader(lines),
        read_options=csv.ReadOptions(
            column_names=names, block_size=len(lines) + 1, use_threads=False
        ),
        parse_options=csv.ParseOptions(
            delimiter=separator,
            quote_char=quote or False,
            double_quote=True,
            escape_char=False,
            newlines_in_values=False,
            ignore_empty_lines=False,
            invalid_row_handler=keep,
        ),
        convert_options=csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
    if not wrong:
        return rows.add_column(0, "corrupt", pa.nulls(rows.num_rows, pa.string()))
    total = rows.num_rows + len(wrong)
    places = np.array([number - 1 for number, _ in wrong])
    order = np.cumsum(~np.isin(np.arange(total), places)) - 1
    is_wrong = np.isin(np.arange(total), places)
    rows = rows.take(pa.array(order, mask=is_wrong))
    texts: list[str | None] = [None] * total
    for place, (_, text) in zip(places, wrong, strict=True):
        texts[place] = text
    return rows.add_column(0, "corrupt", arrow_array(texts, pa.string()))
