"""Predicates as values: conditions on rows.

A predicate is a tree of small frozen values, built with `col`::

    (col("amount") > 10) & col("day").is_in(["mon", "tue"]) & ~col("note").like("%test%")

Truth has three values, as in SQL: a comparison with a null is null, and a filter keeps the
rows for which the predicate is true.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum
from typing import Any, NoReturn

import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array, arrow_scalar
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataType


class Predicate:
    """Base of all nodes: ``&``, ``|`` and ``~`` combine them."""

    __slots__ = ()

    def __and__(self, other: Predicate) -> Predicate:
        return And(_flat(And, (self, _predicate(other))))

    def __or__(self, other: Predicate) -> Predicate:
        return Or(_flat(Or, (self, _predicate(other))))

    def __invert__(self) -> Predicate:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a predicate is neither true nor false: combine predicates with & | ~")


def _predicate(value: object) -> Predicate:
    if not isinstance(value, Predicate):
        raise TypeError(f"{value!r} is not a predicate; comparisons need parentheses beside & |")
    return value


class Comparator(Enum):
    """The six comparisons."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="

    @property
    def negated(self) -> Comparator:
        """The comparison that is true where this one is false."""
        return _NEGATED[self]

    @property
    def mirrored(self) -> Comparator:
        """The comparison with its two sides exchanged."""
        return _MIRRORED[self]


_NEGATED = {
    Comparator.EQ: Comparator.NE,
    Comparator.NE: Comparator.EQ,
    Comparator.LT: Comparator.GE,
    Comparator.GE: Comparator.LT,
    Comparator.GT: Comparator.LE,
    Comparator.LE: Comparator.GT,
}
_MIRRORED = {
    Comparator.EQ: Comparator.EQ,
    Comparator.NE: Comparator.NE,
    Comparator.LT: Comparator.GT,
    Comparator.GT: Comparator.LT,
    Comparator.LE: Comparator.GE,
    Comparator.GE: Comparator.LE,
}


class Literal(Struct, frozen=True):
    """A constant. Bound to a column (`bind`) it has the column's type.

    Bound values are what Arrow stores: int for the integers, DATE (days), TIME (ms) and
    timestamps (in the unit of the Arrow type), Decimal with the column's scale, float,
    str, bytes, bool.
    """

    value: Any
    type: DataType | None = None
    """The column's type; None: not bound yet."""

    @property
    def scalar(self) -> pa.Scalar:
        """A bound literal as an Arrow scalar of the column's Arrow type."""
        assert self.type is not None, f"{self} is not bound"
        return arrow_scalar(self.value, to_arrow(self.type))

    def __str__(self) -> str:
        return repr(self.value)


class AlwaysTrue(Predicate, Struct, frozen=True):
    """True for every row."""

    def __str__(self) -> str:
        return "TRUE"


class AlwaysFalse(Predicate, Struct, frozen=True):
    """False for every row."""

    def __str__(self) -> str:
        return "FALSE"


class AlwaysNull(Predicate, Struct, frozen=True):
    """Null for every row: what a comparison with NULL gives."""

    def __str__(self) -> str:
        return "NULL"


class Settled(Predicate, Struct, frozen=True):
    """The same for every value of a column, null where the column is null.

    What is left of a comparison that the type of the column decides: no INT is 1.5.
    """

    column: str
    value: bool

    def __str__(self) -> str:
        return f"({self.column} IS NULL AND NULL OR {str(self.value).upper()})"


class Comparison(Predicate, Struct, frozen=True):
    """``column <comparator> literal``; NaN equals NaN and is above all other numbers."""

    column: str
    comparator: Comparator
    literal: Literal

    def __str__(self) -> str:
        return f"{self.column} {self.comparator.value} {self.literal}"


class IsNull(Predicate, Struct, frozen=True):
    """``column IS NULL``."""

    column: str

    def __str__(self) -> str:
        return f"{self.column} IS NULL"


class IsNotNull(Predicate, Struct, frozen=True):
    """``column IS NOT NULL``."""

    column: str

    def __str__(self) -> str:
        return f"{self.column} IS NOT NULL"


class IsNan(Predicate, Struct, frozen=True):
    """Whether a FLOAT or DOUBLE is NaN: what a comparison with NaN becomes."""

    column: str

    def __str__(self) -> str:
        return f"{self.column} = NaN"


class In(Predicate, Struct, frozen=True):
    """``column IN (literals)``; bound: at least one literal, no null, no NaN, no doubles."""

    column: str
    literals: tuple[Literal, ...]

    @property
    def members(self) -> pa.Array:
        """Bound literals as an Arrow array of the column's Arrow type, in their order."""
        for literals, members in tuple(_recent_members):
            if literals is self.literals:
                return members
        members = _array_of(self.literals)
        if len(self.literals) <= _MOST_REMEMBERED:
            _recent_members.append((self.literals, members))
        return members

    def __str__(self) -> str:
        return f"{self.column} IN ({', '.join(map(str, self.literals))})"


def _array_of(literals: tuple[Literal, ...]) -> pa.Array:
    kind = literals[0].type
    assert kind is not None, "the literals are not bound"
    return arrow_array([literal.value for literal in literals], to_arrow(kind))


_recent_members: deque[tuple[tuple[Literal, ...], pa.Array]] = deque(maxlen=8)
"""Of the last conditions: files, row groups and pages all ask for them."""
_MOST_REMEMBERED = 100_000
"""Literals of an IN whose array is kept."""


class TextMatch(Enum):
    """Ways a text can match a pattern, byte by byte."""

    STARTS_WITH = "STARTSWITH"
    ENDS_WITH = "ENDSWITH"
    CONTAINS = "CONTAINS"
    LIKE = "LIKE"
    """``%`` any characters, ``_`` one character, a backslash escapes."""


class Matches(Predicate, Struct, frozen=True):
    """A text column against a pattern."""

    column: str
    match: TextMatch
    pattern: str

    def __str__(self) -> str:
        if self.match is TextMatch.LIKE:
            return f"{self.column} LIKE {self.pattern!r}"
        return f"{self.match.value}({self.column}, {self.pattern!r})"


class And(Predicate, Struct, frozen=True):
    """True if all parts are, false if one is false, else null."""

    parts: tuple[Predicate, ...]

    def __str__(self) -> str:
        return f"({' AND '.join(map(str, self.parts))})"


class Or(Predicate, Struct, frozen=True):
    """False if all parts are, true if one is true, else null."""

    parts: tuple[Predicate, ...]

    def __str__(self) -> str:
        return f"({' OR '.join(map(str, self.parts))})"


class Not(Predicate, Struct, frozen=True):
    """The opposite; null stays null. Bound, it stands only before `In`, `Matches`, `IsNan`."""

    part: Predicate

    def __str__(self) -> str:
        return f"NOT {self.part}"


# Building.


class Column(Struct, frozen=True, eq=False):
    """A column to be compared with constants; `col` makes one."""

    name: str

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Predicate:  # type: ignore[override]
        return self._compared(Comparator.EQ, other)

    def __ne__(self, other: object) -> Predicate:  # type: ignore[override]
        return self._compared(Comparator.NE, other)

    def __lt__(self, other: object) -> Predicate:
        return self._compared(Comparator.LT, other)

    def __le__(self, other: object) -> Predicate:
        return self._compared(Comparator.LE, other)

    def __gt__(self, other: object) -> Predicate:
        return self._compared(Comparator.GT, other)

    def __ge__(self, other: object) -> Predicate:
        return self._compared(Comparator.GE, other)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"column {self.name!r} is neither true nor false: compare it, as in == True"
        )

    def _compared(self, comparator: Comparator, other: object) -> Predicate:
        if isinstance(other, Column):
            raise TypeError("two columns cannot be compared with each other, only with constants")
        if other is None:
            raise TypeError(f"nothing equals None: use col({self.name!r}).is_null()")
        return Comparison(self.name, comparator, _literal(other))

    def is_null(self) -> Predicate:
        """Whether the value is null."""
        return IsNull(self.name)

    def is_not_null(self) -> Predicate:
        """Whether there is a value."""
        return IsNotNull(self.name)

    def is_in(self, values: Iterable[object]) -> Predicate:
        """Whether the value is one of ``values``; None among them makes a "no" unknown."""
        return In(self.name, tuple(map(_literal, values)))

    def between(self, low: object, high: object) -> Predicate:
        """Whether ``low <= value <= high``."""
        return all_of(self >= low, self <= high)

    def starts_with(self, prefix: str) -> Predicate:
        """Whether a text begins with ``prefix``."""
        return Matches(self.name, TextMatch.STARTS_WITH, prefix)

    def ends_with(self, suffix: str) -> Predicate:
        """Whether a text ends with ``suffix``."""
        return Matches(self.name, TextMatch.ENDS_WITH, suffix)

    def contains(self, part: str) -> Predicate:
        """Whether ``part`` occurs in a text."""
        return Matches(self.name, TextMatch.CONTAINS, part)

    def like(self, pattern: str) -> Predicate:
        r"""Whether a text matches: ``%`` any text, ``_`` one character, ``\`` escapes."""
        return Matches(self.name, TextMatch.LIKE, pattern)


def col(name: str) -> Column:
    """Name a column of a table to compare it with constants.

    Examples
    --------
    >>> print((col("amount") > 10) & ~col("day").is_in(["mon", "tue"]))
    (amount > 10 AND NOT day IN ('mon', 'tue'))
    """
    return Column(name)


def _literal(value: object) -> Literal:
    return value if isinstance(value, Literal) else Literal(value)


def all_of(*parts: Predicate) -> Predicate:
    """Join predicates with AND, as simple as can be; none gives `AlwaysTrue`, one itself."""
    flat = _flat(And, parts)
    if any(isinstance(part, AlwaysFalse) for part in flat):
        return AlwaysFalse()
    kept = tuple(part for part in flat if not isinstance(part, AlwaysTrue))
    return And(kept) if len(kept) > 1 else kept[0] if kept else AlwaysTrue()


def any_of(*parts: Predicate) -> Predicate:
    """Join predicates with OR, as simple as can be; none gives `AlwaysFalse`, one itself."""
    flat = _flat(Or, parts)
    if any(isinstance(part, AlwaysTrue) for part in flat):
        return AlwaysTrue()
    kept = tuple(part for part in flat if not isinstance(part, AlwaysFalse))
    return Or(kept) if len(kept) > 1 else kept[0] if kept else AlwaysFalse()


def _flat(kind: type[And | Or], parts: Iterable[Predicate]) -> tuple[Predicate, ...]:
    flat: list[Predicate] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    return tuple(flat)


# Looking at trees.
