"""Types as text, as users write a `DataType`: ``MAP<STRING, ROW<a INT, b STRING>>``.

Source: https://paimon.apache.org/docs/master/concepts/data-types/ and apache/paimon@1.3.1
``org.apache.paimon.types.DataTypeJsonParser``.
"""

from __future__ import annotations

import re
from typing import NoReturn

from paimonlab.errors import SchemaError, UnsupportedError, close_matches
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    with_nullable,
)

UNASSIGNED_ID = -1
"""Id of a ROW field that was written as text: a schema assigns the real one."""
MAX_DECIMAL_PRECISION = 38
MAX_FRACTION_DIGITS = 9

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<name>[^\W\d]\w*)
    | `(?P<quoted>(?:[^`]|``)+)`
    | (?P<number>\d+)
    | '(?P<text>(?:[^']|'')*)'
    | (?P<mark>[<>(),:])
    )""",
    re.VERBOSE,
)
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")

_ALIASES = {"INTEGER": "INT", "DEC": "DECIMAL", "NUMERIC": "DECIMAL"}
_WITH_LENGTH = {"CHAR", "VARCHAR", "BINARY", "VARBINARY"}
_TEMPORAL = {"TIME", "TIMESTAMP", "TIMESTAMP_LTZ"}
_COMPOSITE = {"ARRAY", "MAP", "MULTISET", "ROW"}
_FIXED = {
    "STRING": AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH),
    "BYTES": AtomicType(TypeRoot.VARBINARY, length=MAX_LENGTH),
    **{
        word: AtomicType(TypeRoot(word))
        for word in (
            *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"),
            *("DATE", "VARIANT", "BLOB"),
        )
    },
}
NOT_BUILT = {"VECTOR", "GEOMETRY", "GEOGRAPHY"}
_WORDS = (*(root.value for root in TypeRoot), *_ALIASES, *_FIXED, *_COMPOSITE)

_ELSEWHERE = {
    **dict.fromkeys(("TEXT", "STR", "UTF8", "NVARCHAR", "UUID", "OBJECT", "CATEGORY"), "STRING"),
    **dict.fromkeys(("LONG", "INT64", "UINT32", "SERIAL", "BIGSERIAL"), "BIGINT"),
    **dict.fromkeys(("INT32", "INT4", "UINT16"), "INT"),
    **dict.fromkeys(("SHORT", "INT16"), "SMALLINT"),
    **dict.fromkeys(("BYTE", "INT8"), "TINYINT"),
    **dict.fromkeys(("FLOAT64", "FLOAT8"), "DOUBLE"),
    **dict.fromkeys(("FLOAT32", "FLOAT4", "REAL"), "FLOAT"),
    **dict.fromkeys(("NUMBER", "MONEY"), "DECIMAL(18, 2)"),
    **dict.fromkeys(("DATETIME", "DATETIME64"), "TIMESTAMP(6)"),
    **dict.fromkeys(("TIMESTAMPTZ", "TIMESTAMP_TZ"), "TIMESTAMP_LTZ(6)"),
    **dict.fromkeys(("BYTEA", "VARBYTES"), "BYTES"),
    **dict.fromkeys(("JSON", "JSONB"), "VARIANT or STRING"),
    "STRUCT": "ROW<…>",
    "LIST": "ARRAY<…>",
}
"""Names of types in other systems, and what they are here."""


def parse_type(text: str) -> DataType:
    """Parse the text of a type.

    Upper and lower case are the same. Lengths default to 1, ``DECIMAL`` to ``(10, 0)``,
    ``TIME`` to ``(0)``, ``TIMESTAMP`` to ``(6)``; without ``NOT NULL`` a type is nullable.
    Fields of a ``ROW`` get the id `UNASSIGNED_ID`.

    Raises
    ------
    SchemaError
        If the text is not a type; the message shows where.
    UnsupportedError
        For ``VECTOR``, ``GEOMETRY`` and ``GEOGRAPHY``.

    Examples
    --------
    >>> parse_type("numeric(12, 2) not null")
    AtomicType(root=<TypeRoot.DECIMAL: 'DECIMAL'>, nullable=False, length=None, precision=12,
    scale=2)
    >>> format_type(parse_type("array<row<a int, `b c` timestamp_ltz(3)>>"))
    'ARRAY<ROW<a INT, `b c` TIMESTAMP(3) WITH LOCAL TIME ZONE>>'
    """
    return _Parser(text).parse()


class _Parser:
    """A recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        """Kind, value and position; names keep their case."""
        self.next = 0
        position = 0
        end = len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                self.fail("does not belong here", _skip_blanks(text, position))
            kind = str(match.lastgroup)
            self.tokens.append((kind, match[kind], match.start(kind)))
            position = match.end()

    def fail(self, problem: str, position: int | None = None) -> NoReturn:
        if position is None:
            at_end = self.next >= len(self.tokens)
            position = len(self.text) if at_end else self.tokens[self.next][2]
        given = repr(self.text[position:]) if position < len(self.text) else "the end"
        raise SchemaError(f"type {self.text!r}, position {position}: {given} {problem}")

    def parse(self) -> DataType:
        data_type = self.data_type()
        if self.next < len(self.tokens):
            self.fail("is left over after a complete type")
        return data_type

    def peek(self, offset: int = 0) -> str:
        """Return the coming name in upper case or the coming mark; "" for anything else."""
        index = self.next + offset
        if index >= len(self.tokens):
            return ""
        kind, value, _ = self.tokens[index]
        return value.upper() if kind in ("name", "mark") else ""

    def take(self, *words: str) -> bool:
        """Consume exactly these words if they come next."""
        if all(self.peek(offset) == word for offset, word in enumerate(words)):
            self.next += len(words)
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            self.fail(f"found where {mark!r} must be")

    def data_type(self) -> DataType:
        data_type = self.nullability(self.bare_type())
        while self.peek() in ("ARRAY", "MULTISET"):  # the postfix form: INT ARRAY
            suffix = self.peek()
            self.next += 1
            made = ArrayType(data_type) if suffix == "ARRAY" else MultisetType(data_type)
            data_type = self.nullability(made)
        return data_type

    def nullability(self, data_type: DataType) -> DataType:
        if self.take("NOT", "NULL"):
            return with_nullable(data_type, nullable=False)
        self.take("NULL")
        return data_type

    def bare_type(self) -> DataType:
        start = self.next
        word = _ALIASES.get(self.peek(), self.peek())
        if not word or self.tokens[start][0] != "name":
            self.fail("found where a type must begin")
        self.next += 1
        if word in NOT_BUILT:
            raise UnsupportedError(f"data type {word}")
        if word in _COMPOSITE:
            return self.composite(word)
        atomic = _FIXED.get(word) or self.parameterised(word)
        if atomic is None:
            self.next = start
            meant = f" Did you mean {_ELSEWHERE[word]}?" if word in _ELSEWHERE else ""
            self.fail(f"is not a type.{meant or close_matches(word, _WORDS)}")
        if word == "DOUBLE":
            self.take("PRECISION")
        return atomic

    def parameterised(self, word: str) -> AtomicType | None:
        if word in _WITH_LENGTH:
            return AtomicType(TypeRoot(word), length=self.length())
        if word in _TEMPORAL:
            return self.temporal(word)
        return self.decimal() if word == "DECIMAL" else None

    def numbers(self, most: int) -> list[int]:
        """Consume the numbers in parentheses, if there are any."""
        values: list[int] = []
        if not self.take("("):
            return values
        while True:
            if self.next >= len(self.tokens) or self.tokens[self.next][0] != "number":
                self.fail("found where a number must be")
            values.append(int(self.tokens[self.next][1]))
            self.next += 1
            if len(values) < most and self.take(","):
                continue
            self.expect(")")
            return values

    def in_range(self, value: int, low: int, high: int, what: str) -> int:
        if not low <= value <= high:
            raise SchemaError(f"type {self.text!r}: {what} {value} is not in {low}..{high}")
        return value

    def length(self) -> int:
        (length,) = self.numbers(1) or [1]
        return self.in_range(length, 1, MAX_LENGTH, "length")

    def decimal(self) -> AtomicType:
        given = self.numbers(2) or [10]
        precision = self.in_range(given[0], 1, MAX_DECIMAL_PRECISION, "precision")
        scale = self.in_range(given[1] if len(given) > 1 else 0, 0, precision, "scale")
        return AtomicType(TypeRoot.DECIMAL, precision=precision, scale=scale)

    def temporal(self, word: str) -> AtomicType:
        (digits,) = self.numbers(1) or [0 if word == "TIME" else 6]
        precision = self.in_range(digits, 0, MAX_FRACTION_DIGITS, "precision")
        root = TypeRoot(word)
        if self.take("WITHOUT", "TIME", "ZONE"):
            if root is TypeRoot.TIMESTAMP_LTZ:
                self.fail("contradicts TIMESTAMP_LTZ", self.tokens[self.next - 3][2])
        elif root is TypeRoot.TIMESTAMP and self.take("WITH", "LOCAL", "TIME", "ZONE"):
            root = TypeRoot.TIMESTAMP_LTZ
        return AtomicType(root, precision=precision)

    def composite(self, word: str) -> DataType:
        if word == "ROW":
            return self.row()
        self.expect("<")
        first = self.data_type()
        made: DataType
        if word == "MAP":
            self.expect(",")
            made = MapType(first, self.data_type())
        else:
            made = ArrayType(first) if word == "ARRAY" else MultisetType(first)
        self.expect(">")
        return made

    def row(self) -> RowType:
        closing = ")" if self.take("(") else ">"
        if closing == ">":
            self.expect("<")
        fields: list[DataField] = []
        while not (not fields and self.take(closing)):
            fields.append(self.field())
            if self.take(","):
                continue
            self.expect(closing)
            break
        return RowType(tuple(fields))

    def field(self) -> DataField:
        if self.next >= len(self.tokens) or self.tokens[self.next][0] not in ("name", "quoted"):
            self.fail("found where a field name must be")
        kind, name, _ = self.tokens[self.next]
        self.next += 1
        self.take(":")
        data_type = self.data_type()
        self.take("COMMENT")
        description = None
        if self.next < len(self.tokens) and self.tokens[self.next][0] == "text":
            description = self.tokens[self.next][1].replace("''", "'")
            self.next += 1
        unquoted = name.replace("``", "`") if kind == "quoted" else name
        return DataField(UNASSIGNED_ID, unquoted, data_type, description)


def _skip_blanks(text: str, position: int) -> int:
    return position + len(text[position:]) - len(text[position:].lstrip())


def format_type(data_type: DataType) -> str:
    """Write a type as text that `parse_type` reads.

    Examples
    --------
    >>> format_type(AtomicType(TypeRoot.VARCHAR, nullable=False, length=MAX_LENGTH))
    'STRING NOT NULL'
    """
    return _bare_text(data_type) + ("" if data_type.nullable else " NOT NULL")


def _bare_text(data_type: DataType) -> str:
    match data_type:
        case ArrayType(element):
            return f"ARRAY<{format_type(element)}>"
        case MultisetType(element):
            return f"MULTISET<{format_type(element)}>"
        case MapType(key, value):
            return f"MAP<{format_type(key)}, {format_type(value)}>"
        case RowType(fields):
            return f"ROW<{', '.join(map(_field_text, fields))}>"
        case AtomicType():
            return _atomic_text(data_type)


def _atomic_text(data_type: AtomicType) -> str:
    root, word = data_type.root, data_type.root.value
    if data_type.length == MAX_LENGTH and root in (TypeRoot.VARCHAR, TypeRoot.VARBINARY):
        return "STRING" if root is TypeRoot.VARCHAR else "BYTES"
    if data_type.length is not None:
        return f"{word}({data_type.length})"
    if root is TypeRoot.TIMESTAMP_LTZ:
        return f"TIMESTAMP({data_type.precision}) WITH LOCAL TIME ZONE"
    if root is TypeRoot.DECIMAL:
        return f"DECIMAL({data_type.precision}, {data_type.scale})"
    return word if data_type.precision is None else f"{word}({data_type.precision})"


def _field_text(field: DataField) -> str:
    name = field.name
    if not _PLAIN_NAME.fullmatch(name):
        name = "`" + name.replace("`", "``") + "`"
    comment = "" if field.description is None else " '" + field.description.replace("'", "''") + "'"
    return f"{name} {format_type(field.type)}{comment}"
