"""Columns of JSON values to columns of a type, whole columns at a time.

A value that is not of the type is an error of its row, found by halving: who calls decides what
becomes of the row.

Source: the text rules are those of apache/paimon@1.3.1 ``org.apache.paimon.utils.TypeUtils``
``castFromCdcValueString`` where it does not destroy values; the encodings of Kafka Connect are from
Debezium's documentation of its connectors' data types and Connect's ``JsonConverter``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.datafile.number_casts import rounded
from paimonlab.datafile.text_casts import text_to_boolean, text_to_float
from paimonlab.errors import UnsupportedError
from paimonlab.ingest.formats.json_cells import Column
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot
from paimonlab.spec.types.text import format_type

Read: TypeAlias = Callable[[Column], pa.Array]
"""From the values of a key to an array of a type; raises if one is not of the type."""

READ_ERRORS = (pa.ArrowInvalid, pa.ArrowTypeError, ValueError, InvalidOperation, OverflowError)
"""What a `Read` raises; polars' errors are turned into ``ValueError``."""

_DAY_MILLIS = 86_400_000
_MOST_DAYS = 10_000_000
"""Larger counts are milliseconds: days reach the year 29,000."""
_MOST_DIGITS = 40
"""Of numbers that become whole ones: more would take all memory (1e999999999)."""
_SHOWN = 100
"""Characters of a value in a message."""
_ZERO_DATE = r"^\d{4}-00-|^\d{4}-\d\d-00|^0000-"


def read_or_errors(read: Read, column: Column) -> tuple[pa.Array | None, dict[int, str]]:
    """Read a column; what cannot be read is null, and its error is returned by row.

    Returns
    -------
    values : (n,) or None
        None if nothing could be read.
    errors
        Row number to what is wrong.
    """
    try:
        return read(column), {}
    except READ_ERRORS as error:
        count = len(column.texts)
        if count == 1:
            return None, {0: str(error)}
        half = count // 2
        pieces, errors = [], {}
        for start, stop in ((0, half), (half, count)):
            values, found = read_or_errors(read, _part(column, start, stop))
            pieces.append((values, stop - start))
            errors.update({row + start: text for row, text in found.items()})
        kind = next((values.type for values, _ in pieces if values is not None), None)
        if kind is None:
            return None, errors
        arrays = [pa.nulls(size, kind) if values is None else values for values, size in pieces]
        return pa.concat_arrays(arrays), errors


def _part(column: Column, start: int, stop: int) -> Column:
    given = column.is_given
    return Column(
        column.texts.slice(start, stop - start),
        column.is_string[start:stop],
        None if given is None else given[start:stop],
    )


def read_text(column: Column) -> pa.Array:
    """Take values as they are written; objects and arrays as JSON."""
    return column.texts


def reader_of(data_type: DataType) -> Read:
    """Return how values that are written as text become those of a type.

    Raises
    ------
    UnsupportedError
        For types without a text form here.
    """
    make = _READERS.get(data_type.root) if isinstance(data_type, AtomicType) else None
    if make is None:
        raise UnsupportedError(
            f"type {format_type(data_type)} of a column in messages",
            "take STRING: objects and arrays arrive as JSON text",
        )
    assert isinstance(data_type, AtomicType)
    return make(data_type)


def _as_integers(column: Column, kind: pa.DataType) -> pa.Array:
    try:
        return column.texts.cast(kind)
    except pa.ArrowInvalid:
        whole = [_whole(text) for text in column.texts.to_pylist()]
        return arrow_array(whole, pa.int64()).cast(kind)


def _whole(text: str | None) -> int | None:
    if text is None:
        return None
    number = _number(text)
    if number.is_finite() and number.adjusted() >= _MOST_DIGITS:
        raise ValueError(f"{shown(text)} has more digits than any whole number here")
    if number != number.to_integral_value():
        raise ValueError(f"{shown(text)} is not a whole number")
    return int(number)


def _number(text: str) -> Decimal:
    try:
        # Python also takes the digits of other scripts, and 1_000.
        if text.isascii() and "_" not in text:
            return Decimal(text)
    except InvalidOperation:
        pass
    raise ValueError(f"{shown(text)} is not a number")


def shown(text: str) -> str:
    """Return a value for a message, cut short."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def integer_reader(kind: pa.DataType) -> Read:
    """Read whole numbers of an Arrow type; 1.0 and 1e3 are some, hexadecimal ones are not."""

    def read(column: Column) -> pa.Array:
        if (
            column.is_string.any()
            and pc.any(pc.match_substring_regex(column.texts, r"^[+-]?0[xX]")).as_py()
        ):
            raise ValueError("a number is written in hexadecimal digits")
        return _as_integers(column, kind)

    return read


def _integer(data_type: AtomicType) -> Read:
    return integer_reader(to_arrow(data_type))


def _boolean(data_type: AtomicType) -> Read:
    def read(column: Column) -> pa.Array:
        try:
            return column.texts.cast(pa.bool_())
        except pa.ArrowInvalid:
            return text_to_boolean(column.texts, _STRING, data_type)

    return read


def _floating(data_type: AtomicType) -> Read:
    kind = to_arrow(data_type)

    def read(column: Column) -> pa.Array:
        try:
            found = column.texts.cast(kind)
        except pa.ArrowInvalid:
            found = text_to_float(column.texts, _STRING, data_type)
        if pc.any(is_large := pc.is_inf(found)).as_py():
            # Java takes what is too large for infinity, which the source does not have.
            is_written = pc.match_substring(column.texts, "inf", ignore_case=True)
            wrong = column.texts.filter(pc.and_not(is_large, is_written))
            if len(wrong):
                raise ValueError(
                    f"{wrong[0].as_py()[:_SHOWN]!r} is beyond {format_type(data_type)}"
                )
        return found

    return read


def _decimal(data_type: AtomicType) -> Read:
    """Read numbers exactly; digits beyond the scale are rounded half up, as in Java."""
    kind = to_arrow(data_type)

    def one(text: str) -> Decimal:
        number = rounded(_number(text), data_type)
        if number is None:
            raise ValueError(f"{text!r} does not fit {format_type(data_type)}")
        return number

    def read(column: Column) -> pa.Array:
        try:
            return column.texts.cast(kind)
        except pa.ArrowInvalid:
            values = [None if text is None else one(text) for text in column.texts.to_pylist()]
            return arrow_array(values, kind)

    return read


def decimal_reader(data_type: AtomicType) -> Read:
    """Read Connect's Decimal: base64 of the unscaled number's bytes, or a JSON number."""
    as_number = _decimal(data_type)

    def read(column: Column) -> pa.Array:
        if not column.is_string.any():
            return as_number(column)
        if not (
            column.is_string | numpy_values(column.texts.is_null(), zero_copy_only=False)
        ).all():
            raise ValueError("numbers and base64 are mixed")
        return _unscaled(base64_bytes(column.texts), data_type)

    return read


def _unscaled(numbers: pa.Array, data_type: AtomicType) -> pa.Array:
    """Take two's complements, most significant byte first, as decimals.

    Raises
    ------
    ValueError
        If one has more digits than the type.
    """
    lengths = numpy_values(pc.binary_length(numbers).fill_null(0)).astype(np.int64)
    if len(lengths) and lengths.max() > 16:
        raise ValueError(f"a number of {lengths.max()} bytes does not fit {format_type(data_type)}")
    valid = numpy_values(numbers.is_valid(), zero_copy_only=False)
    words = np.zeros((len(numbers), 16), np.uint8)
    data = np.frombuffer(b"".join(numbers.drop_null().to_pylist()), np.uint8)
    ends = np.cumsum(lengths)
    for length in np.unique(lengths[lengths > 0]):
        rows = np.flatnonzero(lengths == length)
        found = data[(ends[rows] - length)[:, None] + np.arange(length)]
        words[rows, :length] = found[:, ::-1]
        words[rows[found[:, 0] >= 128], length:] = 255
    validity = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    kind = pa.decimal128(38, data_type.scale or 0)
    made = pa.Array.from_buffers(kind, len(numbers), [validity, pa.py_buffer(words.tobytes())])
    made.validate(full=True)  # 16 bytes hold numbers of 39 digits
    return made.cast(to_arrow(data_type))


def base64_bytes(texts: pa.Array) -> pa.Array:
    """Decode base64, as JSON carries bytes.

    Raises
    ------
    ValueError
        If a text is no base64.
    """
    try:
        decoded = pl.Series(texts).str.decode("base64", strict=True)
    except pl.exceptions.PolarsError as error:
        raise ValueError("not base64") from error
    return decoded.to_arrow().cast(pa.binary())


def read_base64(column: Column) -> pa.Array:
    """Read bytes that are written as base64."""
    return base64_bytes(column.texts)


def bits_reader(length: int) -> Read:
    """Read Debezium's Bits: base64, least significant byte first; here most significant first."""

    def read(column: Column) -> pa.Array:
        found = base64_bytes(column.texts).to_pylist()
        turned = [None if bits is None else bits[::-1].rjust(length, b"\0") for bits in found]
        return arrow_array(turned, pa.binary())

    return read


def epoch_reader(kind: pa.DataType) -> Read:
    """Read counts since the epoch in the unit of an Arrow type (date32, timestamp)."""
    stored = pa.int32() if pa.types.is_date32(kind) else pa.int64()

    def read(column: Column) -> pa.Array:
        return _as_integers(column, stored).cast(kind)

    return read


def clock_reader(per_milli: int) -> Read:
    """Read times of a day as counts since midnight; Paimon keeps milliseconds.

    Parameters
    ----------
    per_milli
        Units in a millisecond.
    """

    def read(column: Column) -> pa.Array:
        return _clock(_as_integers(column, pa.int64()), per_milli)

    return read


def _clock(counts: pa.Array, per_milli: int) -> pa.Array:
    found = numpy_values(counts.fill_null(0))
    if per_milli > 1 and (found % per_milli).any():
        raise ValueError("a time has digits beyond the milliseconds that Paimon keeps")
    millis = found // per_milli
    if ((millis < 0) | (millis >= _DAY_MILLIS)).any():
        raise ValueError("a time is not within a day")
    mask = _nulls(counts)
    return arrow_array(millis.astype(np.int32), pa.int32(), mask=mask).cast(pa.time32("ms"))


def _nulls(values: pa.Array) -> npt.NDArray[np.bool_] | None:
    return numpy_values(values.is_null(), zero_copy_only=False) if values.null_count else None


def zoned_reader(kind: pa.DataType) -> Read:
    """Read ISO texts with a zone as instants in UTC; ``kind`` with or without a zone."""

    def read(column: Column) -> pa.Array:
        return column.texts.cast(pa.timestamp(kind.unit, tz="UTC")).cast(kind)

    return read


def zoned_epoch_reader(kind: pa.DataType) -> Read:
    """Read counts since the epoch as instants, in the unit of an Arrow timestamp with zone UTC."""

    def read(column: Column) -> pa.Array:
        return _as_integers(column, pa.int64()).cast(pa.timestamp(kind.unit)).cast(kind)

    return read


def _date(data_type: AtomicType) -> Read:
    def read(column: Column) -> pa.Array:
        if _is_numbers(column):
            return _days(_as_integers(column, pa.int64()))
        return _without_zero_dates(column, data_type).cast(pa.date32())

    return read


def _is_numbers(column: Column) -> bool:
    """Whether there are values, and none is a text."""
    return not column.is_string.any() and len(column.texts) > column.texts.null_count


def _days(counts: pa.Array) -> pa.Array:
    """Take days, or milliseconds of midnights, since the epoch."""
    found = numpy_values(counts.fill_null(0))
    is_millis = (found > _MOST_DAYS) | (found < -_MOST_DAYS)
    if (found[is_millis] % _DAY_MILLIS).any():
        raise ValueError("a date has a time of day: declare the column as TIMESTAMP(3)")
    days = np.where(is_millis, found // _DAY_MILLIS, found)
    if ((days > _MOST_DAYS) | (days < -_MOST_DAYS)).any():
        raise ValueError("a date is beyond the year 29,000")
    return arrow_array(days.astype(np.int32), pa.int32(), mask=_nulls(counts)).cast(pa.date32())


def _timestamp(data_type: AtomicType) -> Read:
    kind = to_arrow(data_type)
    digits = data_type.precision or 0
    pattern, left = (rf"(\.\d{{{digits}}})\d+", r"\1") if digits else (r"\.\d+", "")
    is_whole_unit = digits in (3, 6, 9)

    def read(column: Column) -> pa.Array:
        texts = _without_zero_dates(column, data_type)
        if _is_numbers(column):
            return _as_integers(column, pa.int64()).cast(kind)  # as Java: in the unit of the type
        if is_whole_unit:
            with suppress(pa.ArrowInvalid):
                return texts.cast(kind)
        # Digits beyond the precision are left out, as by Java.
        return pc.replace_substring_regex(texts, pattern, left).cast(kind)

    return read


def _without_zero_dates(column: Column, data_type: AtomicType) -> pa.Array:
    """Make nulls of MySQL's dates that no calendar has, where null is allowed."""
    is_zero = pc.match_substring_regex(column.texts, _ZERO_DATE)
    if not pc.any(is_zero).as_py():
        return column.texts
    if not data_type.nullable:
        raise ValueError("a zero date in a column that is NOT NULL")
    nothing = pa.nulls(len(column.texts), pa.string())
    return pc.if_else(is_zero, nothing, column.texts)


def _time(_data_type: AtomicType) -> Read:
    def read(column: Column) -> pa.Array:
        if _is_numbers(column):
            return _clock(_as_integers(column, pa.int64()), 1)
        moments = pc.binary_join_element_wise("1970-01-01", column.texts, " ")
        try:
            counts = moments.cast(pa.timestamp("us")).cast(pa.int64())
        except pa.ArrowInvalid:
            raise ValueError(f"not a time of a day: {column.texts[:1].to_pylist()[0]!r}") from None
        return _clock(counts, 1000)

    return read


def _sized_text(data_type: AtomicType) -> Read:
    length = data_type.length or 0

    def read(column: Column) -> pa.Array:
        longest = pc.max(pc.utf8_length(column.texts)).as_py()
        if longest is not None and longest > length:
            raise ValueError(f"{longest} characters do not fit {format_type(data_type)}")
        return column.texts

    return read


def _bytes(_data_type: AtomicType) -> Read:
    """Take the UTF-8 bytes of a text."""

    def read(column: Column) -> pa.Array:
        return column.texts.cast(pa.binary())

    return read


def read_latin1(column: Column) -> pa.Array:
    """Take each character as the byte of its number, as Canal writes bytes into JSON."""
    return arrow_array(
        [None if text is None else text.encode("latin-1") for text in column.texts.to_pylist()],
        pa.binary(),
    )


_STRING = AtomicType(TypeRoot.VARCHAR, length=2**31 - 1)

_READERS: dict[TypeRoot, Callable[[AtomicType], Read]] = {
    TypeRoot.BOOLEAN: _boolean,
    TypeRoot.TINYINT: _integer,
    TypeRoot.SMALLINT: _integer,
    TypeRoot.INT: _integer,
    TypeRoot.BIGINT: _integer,
    TypeRoot.FLOAT: _floating,
    TypeRoot.DOUBLE: _floating,
    TypeRoot.DECIMAL: _decimal,
    TypeRoot.CHAR: _sized_text,
    TypeRoot.VARCHAR: _sized_text,
    TypeRoot.BINARY: _bytes,
    TypeRoot.VARBINARY: _bytes,
    TypeRoot.DATE: _date,
    TypeRoot.TIME: _time,
    TypeRoot.TIMESTAMP: _timestamp,
    TypeRoot.TIMESTAMP_LTZ: _timestamp,
}
