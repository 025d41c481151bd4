"""Columns that a job computes from those of the source: ``dt = date_format(created, 'yyyy-MM')``.

A pure module: texts become functions, functions and types of columns become types of results, and
batches become columns. The grammar::

    column   = function "(" [ argument { "," argument } ] ")"
    argument = "'" … "'"     a text, with two quotes for one
             | "`" … "`"     a column
             | …             a column or a text without quotes; blanks at its ends are left out

Functions are not nested: a column may be computed from another computed one.

Source: apache/paimon@1.3.1 ``org.apache.paimon.flink.action.cdc.Expression``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.datafile.casts import atomic_cast
from paimonlab.errors import SchemaError, UnsupportedError, close_matches
from paimonlab.ingest import computed_values as values
from paimonlab.ingest.changes import SourceSchema
from paimonlab.ingest.computed_values import Moments, Values
from paimonlab.ingest.date_patterns import pieces_of
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    TEXT_ROOTS,
    AtomicType,
    DataType,
    TypeRoot,
    with_nullable,
)
from paimonlab.spec.types.text import format_type, parse_type

STRING = AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH)
INT = AtomicType(TypeRoot.INT)
NOW = AtomicType(TypeRoot.TIMESTAMP, precision=3)
"""As in Java: what the local clock shows."""

_CALL = re.compile(r"\s*([A-Za-z_]+)\s*\((.*)\)\s*", re.DOTALL)
_QUOTED = re.compile(r"\s*(?:'((?:[^']|'')*)'|`([^`]+)`)\s*(?=,|\Z)", re.DOTALL)
_BARE = re.compile(r"(?:[^,'`()]|'[^']*'|\([^()]*\))*")


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """A column as it was written."""

    name: str
    function: str
    """In small letters."""
    arguments: tuple[str, ...]
    text: str
    """As it was given, without blanks around it."""

    @property
    def reads(self) -> str | None:
        """The column that it is computed from; None: from none."""
        return None if self.function in _CONSTANTS else self.arguments[0]

    def __str__(self) -> str:
        """Name it in messages."""
        return f"computed column {self.name!r} = {self.text}"


def computed_columns(given: Mapping[str, str]) -> tuple[ComputedColumn, ...]:
    """Read columns, and check that they can be computed one after another.

    Parameters
    ----------
    given
        Functions by the name of the column.

    Raises
    ------
    ValueError
        If one is not of the grammar, or columns need each other. Names the column.
    UnsupportedError
        If there is no such function.

    Examples
    --------
    >>> computed_columns({"dt": "date_format(created, yyyy-MM-dd)"})[0].arguments
    ('created', 'yyyy-MM-dd')
    """
    columns = tuple(_parsed(name, text) for name, text in given.items())
    _in_order(columns)
    return columns


def _parsed(name: str, text: str) -> ComputedColumn:
    if not isinstance(text, str):
        raise TypeError(f"computed column {name!r}: {text!r} is not a text")
    match = _CALL.fullmatch(text)
    if match is None:
        raise ValueError(
            f"computed column {name!r}: {text!r} is not of the form function(column, …)"
        )
    function = match[1].lower()
    if function not in _FUNCTIONS and function not in _CONSTANTS:
        known = (*_FUNCTIONS, *_CONSTANTS)
        raise UnsupportedError(
            f"function {match[1]!r} of computed column {name!r}",
            f"functions are {', '.join(known)}.{close_matches(function, known)}",
        )
    arguments = _arguments(match[2], f"computed column {name!r} = {text.strip()}")
    column = ComputedColumn(name, function, arguments, text.strip())
    if function in _FUNCTIONS:
        if not arguments:
            raise ValueError(f"{column}: {function} takes a column")
        if "(" in arguments[0]:
            raise ValueError(
                f"{column}: functions are not nested; make {arguments[0]} a computed column of "
                "its own and name that"
            )
    return column


def _arguments(text: str, column: str) -> tuple[str, ...]:
    if not text.strip():
        return ()
    found, place = [], 0
    while True:
        quoted = _QUOTED.match(text, place)
        if quoted is not None:
            one = quoted[2] if quoted[1] is None else quoted[1].replace("''", "'")
            place = quoted.end()
        else:
            bare = _BARE.match(text, place)
            assert bare is not None, "it matches nothing as well"
            one, place = bare[0].strip(), bare.end()
            if not one or one[0] == "'":
                raise ValueError(
                    f"{column}: an argument is missing, or a quote: texts stand in quotes as a "
                    "whole, with two quotes for one in them"
                )
        found.append(one)
        if place == len(text):
            return tuple(found)
        if text[place] != ",":
            raise ValueError(f"{column}: {text[place:]!r} cannot be read")
        place += 1


def _in_order(columns: Sequence[ComputedColumn]) -> list[ComputedColumn]:
    """Return columns so that each comes after the one that it needs.

    Raises
    ------
    ValueError
        If there is no such order.
    """
    by_name = {column.name: column for column in columns}
    done: dict[str, ComputedColumn] = {}
    for column in columns:
        chain = [column]
        while (needed := by_name.get(chain[-1].reads or "")) is not None:
            if needed in chain:
                names = " needs ".join(repr(one.name) for one in (*chain, needed))
                raise ValueError(f"{column}: it needs itself, {names}")
            chain.append(needed)
        done |= {one.name: one for one in reversed(chain) if one.name not in done}
    return [*done.values()]


Kernel: TypeAlias = Callable[[pa.Array], Values]
_Made: TypeAlias = "tuple[DataType, Kernel, str]"
"""Type of the result, what computes it, and what is wrong with a value that has no result."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundColumn:
    """A column whose types are known."""

    column: ComputedColumn
    type: DataType
    """Nullable: null in, null out."""
    kernel: Kernel | None
    """None: it is a constant, or the time."""
    constant: pa.Scalar | None
    """None: it is computed of a column, or the time."""
    problem: str
    """What is wrong with a value that has no result, after the value."""

    def computed(self, arrays: Mapping[str, pa.Array], count: int, wall_millis: int) -> Values:
        """Compute it for some rows.

        Parameters
        ----------
        arrays
            Columns of the rows by name, those that it needs.
        count
            How many rows there are.
        wall_millis
            What the local clock shows, as milliseconds since 1970 of that clock.
        """
        if self.kernel is not None:
            assert self.column.reads is not None, "a function of a column reads one"
            return self.kernel(arrays[self.column.reads])
        constant = self.constant
        if constant is None:
            constant = arrow_array([wall_millis], pa.int64()).cast(to_arrow(NOW))[0]
        return pa.repeat(constant, count), None

    def error(self, value: object) -> str:
        """Say that a value has no result."""
        shown = repr(value) if isinstance(value, str) else str(value)
        if len(shown) > _SHOWN:
            shown = f"{shown[:_SHOWN]}…"
        return f"{self.column}: {self.column.reads} = {shown} {self.problem}"


_SHOWN = 60


def bound(
    columns: Sequence[ComputedColumn], schema: SourceSchema, *, lacks: bool = False
) -> list[BoundColumn]:
    """Give columns the types that a schema of the source gives them, in the order of computing.

    Parameters
    ----------
    columns
        As `computed_columns` reads them.
    schema
        Of the source.
    lacks
        Whether a column that the schema does not list is left out with what needs it, because
        it is null in these rows; else it is an error.

    Raises
    ------
    SchemaError
        If a column is missing, or there are two of a name. Names column and function.
    UnsupportedError
        If a function does not take the type, or an argument.
    """
    types = {column.name: column.type for column in schema.columns}
    found = []
    for column in _in_order(columns):
        if column.name in types:
            raise SchemaError(f"{column}: the source has a column of this name")
        if column.reads is not None and column.reads not in types:
            if lacks:
                continue
            raise SchemaError(
                f"{column}: there is no column {column.reads!r} in the source "
                f"({', '.join(schema.names)}).{close_matches(column.reads, [*types])}"
            )
        one = _bound(column, types)
        types[column.name] = one.type
        found.append(one)
    return found


def _bound(column: ComputedColumn, types: Mapping[str, DataType]) -> BoundColumn:
    try:
        if column.reads is None:
            kind, constant = _CONSTANTS[column.function](column.arguments)
            return BoundColumn(column, kind, None, constant, "")
        kind = with_nullable(types[column.reads], nullable=True)
        made, kernel, problem = _FUNCTIONS[column.function](kind, column.arguments[1:])
    except UnsupportedError as error:
        raise UnsupportedError(f"{column}: {error.feature}", error.reason) from None
    except (ValueError, SchemaError) as error:
        raise SchemaError(f"{column}: {error}") from None
    return BoundColumn(column, with_nullable(made, nullable=True), kernel, None, problem)


# Functions: of the type of a column and of the arguments after it.

_WHOLE = frozenset({TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT})
_SPELLED = frozenset(
    {*_WHOLE, TypeRoot.BOOLEAN, TypeRoot.DECIMAL, TypeRoot.DATE, TypeRoot.TIME, TypeRoot.TIMESTAMP}
)
"""Types whose values are cut as texts; those of FLOAT and instants look different elsewhere."""
_PRECISIONS = ("0", "3", "6", "9")
_MAX_INT = 2**31 - 1
_NO_MOMENT = "is not a date (yyyy-MM-dd) or time (yyyy-MM-dd HH:mm:ss) of the years 1 to 9999"
_NO_EPOCH = "is not a time of the years 1 to 9999 counted from 1970"


def _moments(kind: DataType, precision: Sequence[str]) -> tuple[Callable[[pa.Array], Moments], str]:
    """Find how values are dates or times, and what those are that are none."""
    root = kind.root if isinstance(kind, AtomicType) else None
    if precision and precision[0] not in _PRECISIONS:
        raise ValueError(
            f"{precision[0]!r} is not a precision: 0 counts seconds, 3 milliseconds, 6 "
            "microseconds, 9 nanoseconds"
        )
    if root in _WHOLE:
        digits = int(precision[0]) if precision else 0
        return partial(values.moments_of_epochs, precision=digits), _NO_EPOCH
    if root in TEXT_ROOTS and precision:
        return partial(values.moments_of_epoch_texts, precision=int(precision[0])), _NO_EPOCH
    if precision:
        raise ValueError(f"{format_type(kind)} has no precision to give: leave {precision[0]} out")
    if root in TEXT_ROOTS:
        return values.moments_of_texts, _NO_MOMENT
    if root is TypeRoot.DATE:
        return values.moments_of_dates, _NO_MOMENT
    if root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ):
        return values.moments_of_timestamps, _NO_MOMENT
    raise UnsupportedError(
        f"a date or time from {format_type(kind)}",
        "give a DATE, a TIMESTAMP, a text, or a whole number that counts from 1970",
    )


def _part(part: str) -> Callable[[DataType, Sequence[str]], _Made]:
    def made(kind: DataType, literals: Sequence[str]) -> _Made:
        _check_count(literals, 0, 1, "a column and, of numbers, 0, 3, 6 or 9")
        read, problem = _moments(kind, literals)
        return INT, lambda array: values.part_of(read(array), part), problem

    return made


def _date_format(kind: DataType, literals: Sequence[str]) -> _Made:
    _check_count(literals, 1, 2, "a column, a pattern and, of numbers, 0, 3, 6 or 9")
    pieces = pieces_of(literals[0])
    read, problem = _moments(kind, literals[1:])
    return STRING, lambda array: values.formatted(read(array), pieces), problem


def _substring(kind: DataType, literals: Sequence[str]) -> _Made:
    _check_count(literals, 1, 2, "a column, where to begin (0 is the first) and where to end")
    begin, *rest = (_integer(one, 0) for one in literals)
    end = rest[0] if rest else None
    if end is not None and end <= begin:
        raise ValueError(f"the end {end} is not after the beginning {begin}")
    spell = _spelled(kind)
    needed = begin if end is None else end
    problem = f"has fewer than {needed} characters"
    return STRING, lambda array: values.substring(spell(array), begin, end), problem


def _truncate(kind: DataType, literals: Sequence[str]) -> _Made:
    _check_count(literals, 1, 1, "a column and a width")
    width = _integer(literals[0], 1)
    root = kind.root if isinstance(kind, AtomicType) else None
    if root in TEXT_ROOTS:
        problem = f"has fewer than {width} characters"
        return kind, lambda array: values.substring(array, 0, width), problem
    problem = f"has no multiple of {width} below it in {format_type(kind)}"
    if root in _WHOLE:
        return kind, lambda array: values.truncated_integers(array, width), problem
    if root is TypeRoot.DECIMAL:
        return kind, lambda array: values.truncated_decimals(array, width), problem
    raise UnsupportedError(
        f"truncate of {format_type(kind)}", "give a whole number, a DECIMAL or a text"
    )


def _of_text(
    name: str, function: Callable[[pa.Array], pa.Array]
) -> Callable[[DataType, Sequence[str]], _Made]:
    def made(kind: DataType, literals: Sequence[str]) -> _Made:
        _check_count(literals, 0, 0, "a column")
        if not isinstance(kind, AtomicType) or kind.root is not TypeRoot.VARCHAR:
            raise UnsupportedError(f"{name} of {format_type(kind)}", "give a VARCHAR or STRING")
        return STRING, lambda array: (function(array), None), ""

    return made


_FUNCTIONS: Mapping[str, Callable[[DataType, Sequence[str]], _Made]] = {
    **{part: _part(part) for part in ("year", "month", "day", "hour", "minute", "second")},
    "date_format": _date_format,
    "substring": _substring,
    "truncate": _truncate,
    "upper": _of_text("upper", values.upper),
    "lower": _of_text("lower", values.lower),
    "trim": _of_text("trim", values.trimmed),
}


def _cast(arguments: Sequence[str]) -> tuple[DataType, pa.Scalar]:
    _check_count(arguments, 1, 2, "a constant and a type")
    target = parse_type(arguments[1]) if len(arguments) > 1 else STRING
    text = arrow_array([arguments[0]], pa.string())
    if not isinstance(target, AtomicType):
        raise UnsupportedError(f"a constant of {format_type(target)}", "give a type without parts")
    if target.root is TypeRoot.TIMESTAMP_LTZ:
        raise UnsupportedError(
            f"a constant of {format_type(target)}", "a text does not say its zone: give TIMESTAMP"
        )
    kind = with_nullable(target, nullable=True)
    assert isinstance(kind, AtomicType), "the same type"
    cast = atomic_cast(STRING, kind, column="cast")
    found = text if cast is None else cast(text)
    if found.null_count or not _is_whole(arguments[0], target):
        raise ValueError(f"{arguments[0]!r} does not fit {format_type(kind)}")
    return kind, found[0]


def _is_whole(text: str, target: AtomicType) -> bool:
    """Say whether a type has all of a text: casts cut fractions and long texts off."""
    if target.root in _WHOLE:
        return re.fullmatch(r"[+-]?\d+", text) is not None
    if target.root in TEXT_ROOTS:
        return len(text) <= (target.length or MAX_LENGTH)
    if target.root in (TypeRoot.BINARY, TypeRoot.VARBINARY):
        return len(text.encode()) <= (target.length or MAX_LENGTH)
    return True


def _now(arguments: Sequence[str]) -> tuple[DataType, None]:
    _check_count(arguments, 0, 0, "nothing")
    return NOW, None


_CONSTANTS: Mapping[str, Callable[[Sequence[str]], tuple[DataType, pa.Scalar | None]]] = {
    "cast": _cast,
    "now": _now,
}


def _spelled(kind: DataType) -> Callable[[pa.Array], pa.Array]:
    """Find how values are texts."""
    if isinstance(kind, AtomicType) and kind.root in TEXT_ROOTS:
        return lambda array: array
    if not isinstance(kind, AtomicType) or kind.root not in _SPELLED:
        raise UnsupportedError(
            f"substring of {format_type(kind)}",
            "give a text, a whole number, a DECIMAL, BOOLEAN, DATE, TIME or TIMESTAMP",
        )
    cast = atomic_cast(kind, STRING, column="substring")
    assert cast is not None, "no text has the type of a text"
    return cast


def _check_count(literals: Sequence[str], least: int, most: int, takes: str) -> None:
    if not least <= len(literals) <= most:
        raise ValueError(f"it takes {takes}")


def _integer(text: str, least: int) -> int:
    if not re.fullmatch(r"\d{1,10}", text) or not least <= int(text) <= _MAX_INT:
        raise ValueError(f"{text!r} is not a whole number of {least} or more")
    return int(text)
