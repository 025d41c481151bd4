"""Values as texts in lines of CSV and JSON, and back, as Java Paimon spells them.

Source: apache/paimon@1.4.2 ``org.apache.paimon.format.csv.CsvParser``, ``CsvFormatWriter``,
``org.apache.paimon.format.json.JsonFileReader``, ``JsonFormatWriter``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled
from paimonlab.datafile.casts import atomic_cast
from paimonlab.datafile.per_value import per_value
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    TEXT_ROOTS,
    AtomicType,
    DataField,
    DataType,
    TypeRoot,
)

STRING = AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH)
_BYTES = (TypeRoot.BINARY, TypeRoot.VARBINARY)
_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_DIGITS = r"^[+-]?[0-9]+$"
_PLAIN: dict[TypeRoot, str] = {
    TypeRoot.FLOAT: r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$",
    TypeRoot.DOUBLE: r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$",
    TypeRoot.DATE: r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    TypeRoot.TIMESTAMP: r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$",
}
"""Texts that Arrow reads as Java does; of others each value is looked at."""
_ANY_LENGTH = (TypeRoot.DECIMAL, TypeRoot.TIME, TypeRoot.TIMESTAMP_LTZ)


def root_of(data_type: DataType) -> TypeRoot | None:
    """Return the kind of an atomic type; None: it is nested."""
    return data_type.root if isinstance(data_type, AtomicType) else None


def texts_of(values: pa.Array, data_type: AtomicType, *, column: str) -> pa.Array:
    """Spell values.

    Parameters
    ----------
    values
        Of the Arrow type of ``data_type``.
    data_type
        Of the column.
    column
        Table and column, for messages.

    Returns
    -------
    pyarrow.Array
        Of strings, null where a value is.

    Raises
    ------
    UnsupportedError
        If it takes another time zone than this process has.
    """
    if data_type.root in TEXT_ROOTS:
        return values
    if data_type.root in _BYTES:
        return per_value(values, lambda value: base64.b64encode(value).decode(), pa.string())
    cast = atomic_cast(data_type, STRING, column=column)
    return values if cast is None else cast(values)


def values_of(
    texts: pa.Array, field: DataField, *, column: str
) -> tuple[pa.Array, pa.Array | None]:
    """Read texts.

    Parameters
    ----------
    texts
        Strings, null for null.
    field
        The column; its type is atomic.
    column
        Table and column, for messages.

    Returns
    -------
    values : pyarrow.Array
        Of the Arrow type of the column, null where a text cannot be read.
    unreadable : pyarrow.Array or None
        Which these are, of booleans; None: there are none.
    """
    read = _reader(field, column)
    try:
        return read(texts), None
    except ValueError:  # so are Arrow's errors
        return _each(texts, read, to_arrow(field.type))


def _each(
    texts: pa.Array, read: Callable[[pa.Array], pa.Array], arrow_type: pa.DataType
) -> tuple[pa.Array, pa.Array]:
    """Read the different texts one by one."""
    encoded = texts.dictionary_encode()
    values, is_readable = [], []
    for number in range(len(encoded.dictionary)):
        try:
            values.append(read(encoded.dictionary.slice(number, 1)))
            is_readable.append(True)
        except ValueError:
            values.append(pa.nulls(1, arrow_type))
            is_readable.append(False)
    unreadable = pc.invert(arrow_array(is_readable, pa.bool_())).take(encoded.indices)
    return pa.concat_arrays(values).take(encoded.indices), null_filled(unreadable, value=False)


def _reader(field: DataField, column: str) -> Callable[[pa.Array], pa.Array]:
    data_type = field.type
    assert isinstance(data_type, AtomicType), "nested values are read by their parts"
    arrow_type = to_arrow(data_type)
    if data_type.root in TEXT_ROOTS:
        return lambda texts: texts
    if data_type.root in _BYTES:
        return lambda texts: per_value(texts, _decoded, pa.binary()).cast(arrow_type)
    if data_type.root is TypeRoot.BOOLEAN:
        return lambda texts: pc.equal(pc.ascii_lower(texts), arrow_scalar("true"))
    if data_type.root in _INTEGERS:
        return lambda texts: _integers(texts, arrow_type)
    cast = atomic_cast(STRING, data_type, column=column)
    assert cast is not None, "the type is not STRING"
    pattern = _PLAIN.get(data_type.root)

    def read(texts: pa.Array) -> pa.Array:
        if pattern is not None and pc.all(pc.match_substring_regex(texts, pattern)).as_py():
            try:
                return pc.utf8_ltrim(texts, "+").cast(arrow_type)
            except pa.ArrowInvalid:  # a day that no calendar has, digits that are cut
                pass
        return cast(texts)

    return read


def _integers(texts: pa.Array, arrow_type: pa.DataType) -> pa.Array:
    if pc.all(pc.match_substring_regex(texts, _DIGITS)).as_py() is False:
        raise ValueError("not all are whole numbers")
    return pc.utf8_ltrim(texts, "+").cast(arrow_type)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text[:40]!r} is not Base64") from error
