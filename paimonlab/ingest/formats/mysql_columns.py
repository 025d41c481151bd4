"""Columns by the names that MySQL gives types, as Canal and Aliyun write them.

Source: apache/paimon@1.3.1 ``MySqlTypeUtils`` (names to types, options of ``type_mapping``),
``CanalFieldParser`` (ENUM as a number, SET as a bit mask, geometry as characters). Bytes are the
bytes, where Java writes the UTF-8 of their characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.ingest.changes import SourceColumn
from paimonlab.ingest.formats.connect_types import ReadColumn
from paimonlab.ingest.formats.geometry import MYSQL_SHAPES, mysql_geometry_json
from paimonlab.ingest.formats.json_cells import Column
from paimonlab.ingest.formats.text_values import Read, read_latin1, read_text, reader_of
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import parse_type

_FORM = re.compile(
    r"\s*([a-z][a-z ]*?)\s*(?:\((.*)\))?\s*(unsigned)?\s*(zerofill)?\s*", re.IGNORECASE | re.DOTALL
)
_MEMBER = re.compile(r"'((?:[^']|'')*)'")
_TEXTS = ("TINYTEXT", "TEXT", "MEDIUMTEXT", "JSON", "STRING")
_BLOBS = ("TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB")
_SIGNED = {
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "MEDIUMINT": "INT",
    "INT": "INT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "LONG": "BIGINT",
    "YEAR": "INT",
}
_UNSIGNED = {
    "TINYINT": "SMALLINT",
    "SMALLINT": "INT",
    "MEDIUMINT": "BIGINT",
    "INT": "BIGINT",
    "INTEGER": "BIGINT",
    "BIGINT": "DECIMAL(20, 0)",
}
_FLOATS = {"FLOAT": "FLOAT", "REAL": "DOUBLE", "DOUBLE": "DOUBLE", "DOUBLE PRECISION": "DOUBLE"}
_DECIMALS = ("DECIMAL", "NUMERIC", "FIXED", "DEC")
_JDBC_TIMESTAMP = 19
"""Characters of a timestamp without fraction: what JDBC says in the place of its precision."""


@dataclass(frozen=True, slots=True)
class MySqlType:
    """A type as MySQL writes it, in parts."""

    name: str
    """In upper case, without size and sign."""
    arguments: str | None
    """What is in parentheses."""
    is_unsigned: bool

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers in parentheses."""
        return tuple(map(int, self.arguments.split(","))) if self.arguments else ()

    @property
    def members(self) -> tuple[str, ...]:
        """Of an ENUM or SET."""
        found = _MEMBER.findall(self.arguments or "")
        return tuple(member.replace("''", "'") for member in found)


def mysql_type(text: str) -> MySqlType:
    """Read a type.

    Raises
    ------
    UnsupportedError
        If it is not written as types are.

    Examples
    --------
    >>> mysql_type("bigint(20) unsigned"), mysql_type("enum('a)','b')").members
    (MySqlType(name='BIGINT', arguments='20', is_unsigned=True), ('a)', 'b'))
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise UnsupportedError(f"MySQL type {text!r}")
    name, arguments, unsigned, zerofill = match.groups()
    words = name.upper().split()
    is_unsigned = bool(unsigned or zerofill) or "UNSIGNED" in words or "ZEROFILL" in words
    kept = [word for word in words if word not in ("UNSIGNED", "ZEROFILL")]
    return MySqlType(" ".join(kept), arguments, is_unsigned)


def mysql_column(name: str, text: str, mapping: frozenset[str]) -> ReadColumn:
    """Return a column whose type MySQL names.

    Parameters
    ----------
    name
        Of the column.
    text
        Its type: ``varchar(10)``.
    mapping
        Options of ``type_mapping``.

    Raises
    ------
    UnsupportedError
        If no type of Paimon holds it.
    """
    source = mysql_type(text)
    try:
        type_text, read = _meaning(source, mapping, name)
        data_type: DataType = parse_type(type_text)
    except (SchemaError, ValueError) as error:  # sizes that are no numbers, or too large
        if isinstance(error, UnsupportedError):
            raise
        raise UnsupportedError(f"MySQL type {text!r} of column {name!r}", str(error)) from error
    if "to-string" in mapping:
        data_type, read = parse_type("STRING"), read_text
    elif read is None:
        read = reader_of(data_type)
    return ReadColumn(SourceColumn(name=name, type=data_type, source_type=text), read)


def _meaning(source: MySqlType, mapping: frozenset[str], column: str) -> tuple[str, Read | None]:
    for rule in (_whole_number, _other_number, _truth, _moment, _text, _bytes, _special):
        found = rule(source, mapping)
        if found is not None:
            return found
    raise UnsupportedError(f"MySQL type {source.name} of column {column!r}")


_Meaning: TypeAlias = tuple[str, Read | None] | None
"""The type's text and how to read it, if not as the type says; None: it is another type."""


def _whole_number(source: MySqlType, mapping: frozenset[str]) -> _Meaning:
    name = source.name
    if name == "SERIAL" or (name == "BIGINT" and source.is_unsigned):
        return "BIGINT" if "bigint-unsigned-to-bigint" in mapping else "DECIMAL(20, 0)", None
    if name == "TINYINT" and not source.is_unsigned and source.sizes == (1,):
        return "TINYINT" if "tinyint1-not-bool" in mapping else "BOOLEAN", None
    found = _UNSIGNED.get(name) if source.is_unsigned else None
    found = found or _SIGNED.get(name)
    return None if found is None else (found, None)


def _other_number(source: MySqlType, _mapping: frozenset[str]) -> _Meaning:
    if source.name in _FLOATS:
        return _FLOATS[source.name], None
    if source.name not in _DECIMALS:
        return None
    # Without sizes: the most digits there are, as Paimon takes it.
    precision, scale = (*source.sizes, 0)[:2] if source.sizes else (38, 18)
    return f"DECIMAL({precision}, {scale})" if precision <= 38 else "STRING", None


def _truth(source: MySqlType, _mapping: frozenset[str]) -> _Meaning:
    if source.name in ("BOOLEAN", "BOOL"):
        return "BOOLEAN", None
    if source.name != "BIT":
        return None
    size = source.sizes[0] if source.sizes else 1
    return ("BOOLEAN", None) if size == 1 else (f"BINARY({(size + 7) // 8})", _bits(size))


def _moment(source: MySqlType, _mapping: frozenset[str]) -> _Meaning:
    if source.name == "DATE":
        return "DATE", None
    if source.name == "TIME":
        return "TIME(3)", None
    if source.name not in ("DATETIME", "TIMESTAMP"):
        return None
    precision = source.sizes[0] if source.sizes else 0
    if precision >= _JDBC_TIMESTAMP:
        precision = max(precision - _JDBC_TIMESTAMP - 1, 0)
    return f"TIMESTAMP({precision})", None


def _text(source: MySqlType, mapping: frozenset[str]) -> _Meaning:
    if source.name in ("CHAR", "VARCHAR"):
        size = source.sizes[0] if source.sizes else 0
        is_plain = not size or "char-to-string" in mapping
        return ("STRING", None) if is_plain else (f"{source.name}({size})", None)
    if source.name == "LONGTEXT":
        return "BYTES" if "longtext-to-bytes" in mapping else "STRING", None
    return ("STRING", None) if source.name in _TEXTS else None


def _bytes(source: MySqlType, _mapping: frozenset[str]) -> _Meaning:
    if source.name in ("BINARY", "VARBINARY"):
        size = source.sizes[0] if source.sizes else 0
        return f"VARBINARY({size})" if size else "BYTES", read_latin1
    return ("BYTES", read_latin1) if source.name in _BLOBS else None


def _special(source: MySqlType, _mapping: frozenset[str]) -> _Meaning:
    name = source.name
    if name in MYSQL_SHAPES:
        return "STRING", _each(lambda text: mysql_geometry_json(text.encode("latin-1")))
    members = source.members
    if name == "ENUM":
        return "STRING", _each(lambda text: enum_member(text, members))
    if name == "SET":
        kind = pa.list_(pa.string())
        return "ARRAY<STRING>", _each(lambda text: set_members(text, members), kind)
    return None


def _each(change: Callable[[str], object], kind: pa.DataType | None = None) -> Read:
    """Read each text by a function; the types that need it are rare."""

    def read(column: Column) -> pa.Array:
        found = [None if text is None else change(text) for text in column.texts.to_pylist()]
        return pa.array(found, pa.string() if kind is None else kind)

    return read


def _bits(size: int) -> Read:
    length = (size + 7) // 8
    kind = pa.binary()

    def one(text: str) -> bytes:
        return int(text).to_bytes(length, "big")

    return _each(one, kind)


def enum_member(text: str, members: tuple[str, ...]) -> str:
    """Return the member of an ENUM that a text names or numbers, counted from 1.

    Raises
    ------
    ValueError
        If it is neither, or both and they differ.

    Examples
    --------
    >>> enum_member("2", ("small", "large")), enum_member("small", ("small", "large"))
    ('large', 'small')
    """
    numbered = None
    if text.isascii() and text.isdigit():
        number = int(text)
        numbered = "" if number == 0 else members[number - 1] if number <= len(members) else None
    named = text if text in members or text == "" else None
    if numbered is not None and named is not None and numbered != named:
        raise ValueError(f"{text!r} is the name of one member of an ENUM and the number of another")
    found = numbered if named is None else named
    if found is None:
        raise ValueError(f"{text!r} is no member of ENUM{members}")
    return found


def set_members(text: str, members: tuple[str, ...]) -> list[str]:
    """Return the members of a SET that a text names or whose bits it has, in the set's order.

    Raises
    ------
    ValueError
        If it has others.

    Examples
    --------
    >>> set_members("5", ("a", "b", "c")), set_members("b,a", ("a", "b", "c")), set_members("", ())
    (['a', 'c'], ['a', 'b'], [])
    """
    if text.isascii() and text.isdigit() and text not in members:
        bits = int(text)
        if bits >> len(members):
            raise ValueError(f"bits of {text!r} are beyond SET{members}")
        return [member for index, member in enumerate(members) if bits >> index & 1]
    named = text.split(",") if text else []
    strange = [member for member in named if member not in members]
    if strange:
        raise ValueError(f"{strange[0]!r} is no member of SET{members}")
    return [member for member in members if member in named]
