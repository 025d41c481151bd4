r"""Lines of CSV as Java Paimon writes and reads them.

Java reads line by line, so no value has what ends a line, and a backslash before anything but a
quote or a backslash is left out. Arrow reads most lines; what of a line Arrow would read otherwise
is read here, sign by sign.

Source: apache/paimon@1.4.2 ``org.apache.paimon.format.csv.CsvParser``, ``CsvFormatWriter``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled
from paimonlab.errors import CorruptDataError, DataError
from paimonlab.spec.types.data_types import AtomicType, DataField
from paimonlab.table.format_tables.lines import is_usual
from paimonlab.table.format_tables.options import CsvOptions
from paimonlab.table.format_tables.value_texts import texts_of, values_of

# Reading


def read_rows(
    block: bytes | list[bytes],
    fields: Sequence[DataField],
    wanted: Sequence[str],
    options: CsvOptions,
    *,
    path: str,
) -> pa.Table:
    """Read lines.

    Parameters
    ----------
    block
        As `lines.blocks` gives them, without a header.
    fields
        All columns of the file, in order.
    wanted
        Names of those to return.
    options
        Of the table.
    path
        Of the file, for messages.

    Raises
    ------
    CorruptDataError
        If a value cannot be read and ``csv.mode`` is ``failfast``.
    """
    decides = wanted if options.mode == "permissive" else [field.name for field in fields]
    texts = _texts(block, [field.name for field in fields], options)
    columns: dict[str, pa.Array] = {}
    unreadable: pa.Array | None = None
    for field in fields:
        if field.name not in decides:
            continue
        column = texts.column(field.name).combine_chunks()
        values, bad = values_of(column, field, column=f"{path}: {field.name}")
        columns[field.name] = values
        if bad is None or not pc.any(bad).as_py():
            continue
        if options.mode == "failfast":
            text = column.filter(bad)[0].as_py()
            raise CorruptDataError(path, f"column {field.name!r}: {text!r} cannot be read")
        unreadable = bad if unreadable is None else pc.or_(unreadable, bad)
    rows = _table(columns, wanted, texts.num_rows)
    if options.mode == "dropmalformed" and unreadable is not None:
        return rows.filter(pc.invert(unreadable))
    return rows


def _table(columns: dict[str, pa.Array], wanted: Sequence[str], count: int) -> pa.Table:
    if not wanted:  # rows alone: a table without columns does not know how many it has
        return pa.table({"": pa.nulls(count)})
    return pa.table({name: columns[name] for name in wanted})


def _texts(block: bytes | list[bytes], names: Sequence[str], options: CsvOptions) -> pa.Table:
    """Return the values of lines as texts, null where they are the null literal."""
    plain, odd = _sorted_out(block, len(names), options)
    parts = []
    if plain:
        known, more = _by_arrow(plain, names, options)
        parts.append(known)
        odd += more
    if odd or not parts:
        rows = [_parsed(line, len(names), options) for line in odd]
        parts.append(
            pa.table(
                {
                    name: arrow_array([row[place] for row in rows], pa.string())
                    for place, name in enumerate(names)
                }
            )
        )
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts)


@lru_cache(maxsize=16)
def _plain_line(options: CsvOptions) -> re.Pattern[bytes]:
    """Match lines that Arrow reads as Java does."""
    comma, quote, escape = (
        re.escape(sign.encode()) for sign in (options.delimiter, options.quote, options.escape)
    )
    bare = rb"[^%b%b%b\n\r]*" % (comma, quote, escape)
    quoted = rb"%b(?:[^%b%b\n\r]|%b[%b%b]|%b%b)*%b" % (
        *(quote, quote, escape, escape, quote, escape),
        *(quote, quote, quote),
    )
    return re.compile(rb"(?:%b|%b)(?:%b(?:%b|%b))*" % (bare, quoted, comma, bare, quoted))


def _sorted_out(
    block: bytes | list[bytes], count: int, options: CsvOptions
) -> tuple[bytes, list[str]]:
    """Return lines that Arrow reads as Java does, and the others."""
    if isinstance(block, bytes):
        signs = (options.quote.encode(), options.escape.encode())
        are_blank_values = count == 1 or options.delimiter.isspace()
        if not are_blank_values and not any(sign in block for sign in signs):
            return block, []
        lines = block.split(b"\n")
        lines.pop()
    else:
        lines = block
    matches = _plain_line(options).fullmatch
    plain, odd = [], []
    for line in lines:
        if matches(line) and line and not line.isspace():
            plain.append(line)
        else:
            odd.append(line.decode("utf-8", "replace"))
    return b"".join(chain.from_iterable((line, b"\n") for line in plain)), odd


def _by_arrow(
    block: bytes, names: Sequence[str], options: CsvOptions
) -> tuple[pa.Table, list[str]]:
    """Return rows, and lines that have more or fewer values than there are columns."""
    others: list[str] = []

    def keep(row: csv.InvalidRow) -> str:
        others.append(row.text)
        return "skip"

    def read(data: bytes) -> pa.Table:
        others.clear()
        return csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(
                column_names=list(names), block_size=len(data) + 1, use_threads=False
            ),
            parse_options=csv.ParseOptions(
                delimiter=options.delimiter,
                quote_char=options.quote,
                double_quote=True,
                escape_char=options.escape,
                newlines_in_values=False,
                ignore_empty_lines=False,
                invalid_row_handler=keep,
            ),
            convert_options=csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                null_values=[options.null_literal],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )

    try:
        rows = read(block)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        rows = read(block.decode("utf-8", "replace").encode())
    return rows, others


def _parsed(  # noqa: C901, PLR0912 - Java's machine, sign by sign
    line: str, count: int, options: CsvOptions
) -> list[str | None]:
    """Read a line sign by sign; None: no value, or the null literal."""
    values: list[str | None] = [None] * count
    if not line or line.isspace() or count == 0:
        return values
    comma, quote, escape = options.delimiter, options.quote, options.escape
    buffer: list[str] = []
    place = position = 0
    in_quotes = in_field = False
    while position < len(line) and place < count:
        sign = line[position]
        following = line[position + 1 : position + 2]
        if sign == escape:
            if (in_quotes or in_field) and following in (quote, escape):
                buffer.append(following)
                position += 1
        elif sign == quote:
            if (in_quotes or in_field) and following == quote:
                buffer.append(following)
                position += 1
            else:
                in_middle = position > 2 and line[position - 1] != comma
                if in_middle and following not in ("", comma):
                    if buffer and "".join(buffer).isspace():
                        buffer.clear()
                    else:
                        buffer.append(sign)
                in_quotes = not in_quotes
            in_field = not in_field
        elif sign == comma and not in_quotes:
            values[place] = "".join(buffer)
            place += 1
            buffer.clear()
            in_field = False
        else:
            buffer.append(sign)
            in_field = True
        position += 1
    if place < count and not in_quotes:
        values[place] = "".join(buffer)
    return [None if value == options.null_literal else value for value in values]


# Writing


def header(fields: Sequence[DataField], options: CsvOptions) -> bytes:
    """Return the line with the names of columns."""
    names = [_quoted(arrow_array([field.name], pa.string()), options)[0] for field in fields]
    line = options.delimiter.join(name.as_py() for name in names)
    return f"{line}{options.line_delimiter}".encode()


def written(
    rows: pa.RecordBatch, fields: Sequence[DataField], options: CsvOptions, *, table: str
) -> bytes:
    """Return rows as lines.

    Raises
    ------
    DataError
        If a value would be read as another one: a text that is the null literal, or that has what
        ends a line.
    """
    columns = []
    for field in fields:
        assert isinstance(field.type, AtomicType), "checked when the table was made"
        texts = texts_of(rows.column(field.name), field.type, column=f"{table}.{field.name}")
        _check_texts(texts, options, f"{table}.{field.name}")
        columns.append(_quoted(texts, options))
    lines = (
        columns[0]
        if len(columns) == 1
        else pc.binary_join_element_wise(*columns, arrow_scalar(options.delimiter))
    )
    _check_lines(lines, rows, fields, options, table)
    whole = options.line_delimiter.join(lines.to_pylist())
    return f"{whole}{options.line_delimiter}".encode()


def _quoted(texts: pa.Array, options: CsvOptions) -> pa.Array:
    first = options.line_delimiter[0]
    signs = (options.delimiter, options.quote, options.escape, first)
    pattern = "[" + "".join(re.escape(sign) for sign in signs) + "]"
    needs_quotes = pc.match_substring_regex(texts, pattern)
    if pc.any(needs_quotes).as_py():
        escaped = pc.replace_substring(texts, options.escape, options.escape * 2)
        escaped = pc.replace_substring(escaped, options.quote, options.escape + options.quote)
        quote = arrow_scalar(options.quote)
        in_quotes = pc.binary_join_element_wise(quote, escaped, quote, arrow_scalar(""))
        texts = pc.if_else(needs_quotes, in_quotes, texts)
    return texts.fill_null(options.null_literal)


def _check_texts(texts: pa.Array, options: CsvOptions, column: str) -> None:
    if pc.any(pc.equal(texts, arrow_scalar(options.null_literal))).as_py():
        raise DataError(
            f"{column}: the value {options.null_literal!r} would be read as NULL; set the option "
            "csv.null-literal to a text that no value is"
        )
    if is_usual(options.line_delimiter):
        has_end = pc.match_substring_regex(texts, "[\r\n]")
    else:
        has_end = pc.match_substring(texts, options.line_delimiter)
    if pc.any(has_end).as_py():
        shown = texts.filter(null_filled(has_end, value=False))[0].as_py()[:40]
        raise DataError(
            f"{column}: {shown!r} has the end of a line, which ends a row of CSV; write the rows "
            "to a table of json or parquet"
        )


def _check_lines(
    lines: pa.Array,
    rows: pa.RecordBatch,
    fields: Sequence[DataField],
    options: CsvOptions,
    table: str,
) -> None:
    """Refuse rows whose lines are read otherwise, whatever their values alone are."""
    if not is_usual(options.line_delimiter):
        ended = pc.binary_join_element_wise(
            lines, arrow_scalar(options.line_delimiter), arrow_scalar("")
        )
        found = pc.find_substring(ended, options.line_delimiter)
        lengths = pc.binary_length(lines)
        if pc.any(pc.not_equal(found, lengths)).as_py():
            raise DataError(
                f"{table}: a row ends with part of the line delimiter {options.line_delimiter!r}"
            )
    if len(fields) == 1 or options.delimiter.isspace():
        is_blank = pc.equal(pc.utf8_trim_whitespace(lines), arrow_scalar(""))
        has_value = arrow_array([False] * rows.num_rows, pa.bool_())
        for field in fields:
            has_value = pc.or_(has_value, rows.column(field.name).is_valid())
        if pc.any(pc.and_(is_blank, has_value)).as_py():
            raise DataError(f"{table}: a row of blanks alone would be read as NULL")
