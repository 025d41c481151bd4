"""Conditions and new values made up at random, each with what Python makes of it.

Aliases: ``t`` is the table that is changed, ``s`` the source of a MERGE. `{u}` in a text stands for
the name of a second table, `{t}` for that of the first.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from tests.random_changes.values import ARRAY, STRUCT, Row, literal, order_of, some_value

Rows: TypeAlias = Mapping[str, Row]
"""A row for each alias."""
Columns: TypeAlias = Mapping[str, str]
"""Types by names."""


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression in SQL, and its value for rows; None is NULL."""

    text: str
    value: Callable[[Rows], Any]
    plain: str = ""
    """Without subqueries, for engines that have none there; empty: as the text."""

    @property
    def without_subqueries(self) -> str:
        """The same, for the same other tables."""
        return self.plain or self.text


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compared(sign: str, left: Any, right: Any) -> bool | None:
    """Compare as SQL does."""
    if sign == "<=>":
        return (left is None) == (right is None) and (
            left is None or order_of(left) == order_of(right)
        )
    if left is None or right is None:
        return None
    return _COMPARISONS[sign](order_of(left), order_of(right))


def both(left: bool | None, right: bool | None) -> bool | None:
    """Return AND."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def negated(value: bool | None) -> bool | None:
    """Return NOT."""
    return None if value is None else not value


def either(left: bool | None, right: bool | None) -> bool | None:
    """Return OR."""
    return negated(both(negated(left), negated(right)))


def member(value: Any, among: Sequence[Any]) -> bool | None:
    """Return IN."""
    found: bool | None = False
    for one in among:
        found = either(found, compared("=", value, one))
    return found


class Maker:
    """Makes expressions over the columns of some sides."""

    def __init__(
        self, rng: random.Random, sides: Mapping[str, Columns], others: Sequence[Row] = ()
    ) -> None:
        self.rng = rng
        self.sides = sides
        self.others = others
        """Rows of ``{u}``, for subqueries; none: there are no subqueries."""

    def column(self, *kinds: str) -> tuple[str, Expression] | None:
        """Choose a column of one of some types, of any if none are given; return its type, too."""
        found = [
            (side, name, kind)
            for side, columns in self.sides.items()
            for name, kind in columns.items()
            if kind in kinds or (not kinds and kind not in (STRUCT, ARRAY))
        ]
        if not found:
            return None
        side, name, kind = self.rng.choice(found)
        return kind, Expression(f"{side}.{name}", lambda rows: rows[side][name])

    def condition(self, depth: int = 2) -> Expression:
        """Make a condition."""
        rng = self.rng
        if depth and rng.random() < 0.45:
            one, two = self.condition(depth - 1), self.condition(depth - 1)
            match rng.randrange(3):
                case 0:
                    return _joined("AND", both, one, two)
                case 1:
                    return _joined("OR", either, one, two)
                case _:
                    return Expression(
                        f"NOT ({one.text})",
                        lambda rows: negated(one.value(rows)),
                        f"NOT ({one.without_subqueries})",
                    )
        made = rng.choice(_CONDITIONS)(self)
        return made or self._about_id()

    def _about_id(self) -> Expression:
        """Make a condition on a column that is always there."""
        side, bound = self.rng.choice([*self.sides]), self.rng.randrange(12)
        return Expression(
            f"{side}.id < {bound}", lambda rows: compared("<", rows[side]["id"], bound)
        )

    def with_literal(self) -> Expression | None:
        """Compare a column with a constant."""
        found = self.column()
        assert found is not None
        kind, column = found
        sign = self.rng.choice([*_COMPARISONS, "<=>"])
        value = some_value(kind, self.rng, 0.05)
        return Expression(
            f"{column.text} {sign} {literal(kind, value)}",
            lambda rows: compared(sign, column.value(rows), value),
        )

    def between(self) -> Expression | None:
        """Ask for a range."""
        found = self.column("INT", "BIGINT", "STRING", "DATE", "TIMESTAMP", "DECIMAL(10, 2)")
        if found is None:
            return None
        kind, column = found
        low, high = sorted(some_value(kind, self.rng, 0) for _ in range(2))
        return Expression(
            f"{column.text} BETWEEN {literal(kind, low)} AND {literal(kind, high)}",
            lambda rows: both(
                compared(">=", column.value(rows), low), compared("<=", column.value(rows), high)
            ),
        )

    def among(self) -> Expression | None:
        """Ask for one of some constants."""
        found = self.column()
        assert found is not None
        kind, column = found
        values = [some_value(kind, self.rng, 0.1) for _ in range(self.rng.choice((1, 2, 3, 12)))]
        word = self.rng.choice(("IN", "NOT IN"))
        listed = ", ".join(literal(kind, value) for value in values)

        def test(rows: Rows) -> bool | None:
            held = member(column.value(rows), values)
            return held if word == "IN" else negated(held)

        return Expression(f"{column.text} {word} ({listed})", test)

    def is_null(self) -> Expression | None:
        """Ask for NULL."""
        found = self.column(*([] if self.rng.randrange(4) else [STRUCT, ARRAY]))
        if found is None:
            return None
        _, column = found
        if self.rng.randrange(2):
            return Expression(f"{column.text} IS NULL", lambda rows: column.value(rows) is None)
        return Expression(f"{column.text} IS NOT NULL", lambda rows: column.value(rows) is not None)

    def like(self) -> Expression | None:
        """Ask for how texts begin or end."""
        found = self.column("STRING")
        if found is None:
            return None
        column = found[1]
        pattern, test = self.rng.choice(
            (
                ("LIKE 'a%'", lambda text: text.startswith("a")),
                ("LIKE '%b'", lambda text: text.endswith("b")),
                ("LIKE '%b%'", lambda text: "b" in text),
                ("NOT LIKE 'a%'", lambda text: not text.startswith("a")),
                ("LIKE 'a'", lambda text: text == "a"),
            )
        )

        def value(rows: Rows) -> bool | None:
            text = column.value(rows)
            return None if text is None else test(text)

        return Expression(f"{column.text} {pattern}", value)

    def of_columns(self) -> Expression | None:
        """Compare two columns."""
        one = self.column()
        assert one is not None
        kinds = {"INT", "BIGINT"} if one[0] in ("INT", "BIGINT") else {one[0]}
        two = self.column(*kinds)
        assert two is not None
        sign = self.rng.choice([*_COMPARISONS, "<=>"])
        left, right = one[1], two[1]
        return Expression(
            f"{left.text} {sign} {right.text}",
            lambda rows: compared(sign, left.value(rows), right.value(rows)),
        )

    def remainder(self) -> Expression | None:
        """Ask for one of some parts of whole numbers."""
        found = self.column("INT", "BIGINT")
        assert found is not None
        column, of = found[1], self.rng.choice((2, 3, 5))
        wanted = self.rng.randrange(of)

        def value(rows: Rows) -> bool | None:
            number = column.value(rows)
            return None if number is None else math.fmod(number, of) == wanted

        return Expression(f"{column.text} % {of} = {wanted}", value)

    def of_field(self) -> Expression | None:
        """Compare a field of a struct."""
        found = self.column(STRUCT)
        if found is None:
            return None
        column, bound = found[1], self.rng.choice((0, 1, 3))
        return Expression(
            f"{column.text}.a > {bound}",
            lambda rows: (
                None if (whole := column.value(rows)) is None else compared(">", whole["a"], bound)
            ),
        )

    def flag(self) -> Expression | None:
        """Take a column that is a condition."""
        found = self.column("BOOLEAN")
        return None if found is None else found[1]

    def in_subquery(self) -> Expression | None:
        """Ask whether a column's value is in the other table."""
        if not self.others:
            return None
        found = self.column("INT", "BIGINT", "STRING")
        assert found is not None
        kind, column = found
        name = {"INT": "id", "BIGINT": "n", "STRING": "v"}[kind]
        bound = self.rng.randrange(3, 15)
        chosen = [one[name] for one in self.others if one["id"] < bound]
        if self.rng.randrange(2):
            chosen = [one for one in chosen if one is not None]
            only = f" AND u.{name} IS NOT NULL"
        else:
            only = ""
        word = self.rng.choice(("IN", "NOT IN"))
        constants = ", ".join(literal(kind, one) for one in chosen)
        return Expression(
            f"{column.text} {word} (SELECT u.{name} FROM {{u}} u WHERE u.id < {bound}{only})",
            lambda rows: (
                member(column.value(rows), chosen)
                if word == "IN"
                else negated(member(column.value(rows), chosen))
            ),
            f"{column.text} {word} ({constants})" if chosen else str(word != "IN").lower(),
        )

    def exists(self) -> Expression | None:
        """Ask whether the other table has a row with the same id."""
        if not self.others or "t" not in self.sides:
            return None
        bound = self.rng.choice((-1, 0, 3, 100))
        chosen = [one["id"] for one in self.others if compared(">", one["n"], bound) is True]
        word = self.rng.choice(("EXISTS", "NOT EXISTS"))
        constants = ", ".join(map(str, chosen)) or "NULL"
        plain = f"coalesce(t.id IN ({constants}), false)"
        return Expression(
            f"{word} (SELECT 1 FROM {{u}} u WHERE u.id = t.id AND u.n > {bound})",
            lambda rows: (rows["t"]["id"] in chosen) is (word == "EXISTS"),
            plain if word == "EXISTS" else f"NOT {plain}",
        )

    def with_scalar(self) -> Expression | None:
        """Compare with the greatest value of the other table."""
        if not self.others:
            return None
        found = self.column("BIGINT", "INT")
        assert found is not None
        column, bound = found[1], self.rng.randrange(0, 15)
        chosen = [one["n"] for one in self.others if one["id"] < bound and one["n"] is not None]
        greatest = max(chosen, default=None)
        return Expression(
            f"{column.text} < (SELECT max(u.n) FROM {{u}} u WHERE u.id < {bound})",
            lambda rows: compared("<", column.value(rows), greatest),
            f"{column.text} < {literal('BIGINT', greatest)}",
        )

    def value_for(self, name: str, kind: str) -> Expression:
        """Make a new value for a column."""
        rng = self.rng
        if rng.random() < 0.25:
            value = some_value(kind, rng)
            return Expression(literal(kind, value), lambda rows: value)
        made: Expression | None = None
        if rng.random() < 0.75 and kind in _VALUES:
            made = rng.choice(_VALUES[kind])(self)
        if made is None:
            found = self.column(kind)
            if found is None:
                value = some_value(kind, rng)
                return Expression(literal(kind, value), lambda rows: value)
            made = found[1]
        if rng.random() < 0.15:
            test, other = self.condition(1), some_value(kind, rng)
            inner = made
            made = Expression(
                f"CASE WHEN {test.text} THEN {literal(kind, other)} ELSE {inner.text} END",
                lambda rows: other if test.value(rows) is True else inner.value(rows),
                f"CASE WHEN {test.without_subqueries} THEN {literal(kind, other)} "
                f"ELSE {inner.without_subqueries} END",
            )
        return made

    def _of(self, kind: str, template: str, function: Callable[[Any], Any]) -> Expression | None:
        found = self.column(kind)
        if found is None:
            return None
        column = found[1]

        def value(rows: Rows) -> Any:
            given = column.value(rows)
            return None if given is None else function(given)

        return Expression(template.format(column.text), value)

    def longer(self) -> Expression | None:
        """Append to a text, shorten it, change its case."""
        template, function = self.rng.choice(
            (
                ("concat({}, 'u')", lambda text: text + "u"),
                ("substring({}, 1, 3)", lambda text: text[:3]),
                ("upper({})", str.upper),
                ("substring(concat('<', {}), 1, 9)", lambda text: ("<" + text)[:9]),
            )
        )
        return self._of("STRING", template, function)

    def number_as_text(self) -> Expression | None:
        """Write a number."""
        return self._of("BIGINT", "CAST({} AS STRING)", str)

    def more(self) -> Expression | None:
        """Add to a number."""
        add = self.rng.choice((1, 7, -3))
        return self._of("BIGINT", f"{{}} % 1000 + {add}", lambda n: int(math.fmod(n, 1000)) + add)

    def wider(self) -> Expression | None:
        """Take a smaller number."""
        return self._of("INT", "{}", int)

    def length(self) -> Expression | None:
        """Count letters."""
        return self._of("STRING", "length({})", len)

    def dearer(self) -> Expression | None:
        """Add to a decimal."""
        return self._of(
            "DECIMAL(10, 2)",
            "CAST({} % 1000 + 1.25 AS DECIMAL(10, 2))",
            lambda m: Decimal(m) % 1000 + Decimal("1.25"),
        )

    def half(self) -> Expression | None:
        """Halve a double."""
        return self._of("DOUBLE", "{} * CAST(0.5 AS DOUBLE)", lambda d: d * 0.5)

    def as_double(self) -> Expression | None:
        """Turn a number into a double."""
        return self._of("BIGINT", "CAST({} AS DOUBLE)", float)

    def day_after(self) -> Expression | None:
        """Go to the next day."""
        return self._of("DATE", "date_add({}, 1)", lambda day: day + dt.timedelta(days=1))

    def day_of(self) -> Expression | None:
        """Take the day of a time."""
        return self._of("TIMESTAMP", "CAST({} AS DATE)", lambda time: time.date())

    def packed(self) -> Expression | None:
        """Put columns into a struct."""
        one, two = self.column("INT"), self.column("STRING")
        if one is None or two is None:
            return None
        a, c = one[1], two[1]
        return Expression(
            f"named_struct('a', {a.text}, 'c', {c.text})",
            lambda rows: {"a": a.value(rows), "c": c.value(rows)},
        )

    def listed(self) -> Expression | None:
        """Put a column into an array."""
        found = self.column("INT")
        if found is None:
            return None
        column = found[1]
        return Expression(f"array({column.text}, 7)", lambda rows: [column.value(rows), 7])

    def given(self) -> Expression | None:
        """Replace NULL."""
        return self._or("BIGINT", 7)

    def given_text(self) -> Expression | None:
        """Replace NULL."""
        return self._or("STRING", "none")

    def _or(self, kind: str, other: Any) -> Expression | None:
        found = self.column(kind)
        if found is None:
            return None
        column = found[1]
        return Expression(
            f"coalesce({column.text}, {literal(kind, other)})",
            lambda rows: other if (held := column.value(rows)) is None else held,
        )


def _joined(
    word: str,
    function: Callable[[bool | None, bool | None], bool | None],
    one: Expression,
    two: Expression,
) -> Expression:
    return Expression(
        f"({one.text}) {word} ({two.text})",
        lambda rows: function(one.value(rows), two.value(rows)),
        f"({one.without_subqueries}) {word} ({two.without_subqueries})",
    )


_CONDITIONS: Sequence[Callable[[Maker], Expression | None]] = (
    *(Maker.with_literal, Maker.with_literal, Maker.between, Maker.among, Maker.is_null),
    *(Maker.like, Maker.of_columns, Maker.remainder, Maker.of_field, Maker.flag),
    *(Maker.in_subquery, Maker.exists, Maker.with_scalar),
)
_VALUES: dict[str, Sequence[Callable[[Maker], Expression | None]]] = {
    "STRING": (Maker.longer, Maker.longer, Maker.number_as_text, Maker.given_text),
    "BIGINT": (Maker.more, Maker.more, Maker.wider, Maker.length, Maker.given),
    "DECIMAL(10, 2)": (Maker.dearer,),
    "DOUBLE": (Maker.half, Maker.as_double),
    "DATE": (Maker.day_after, Maker.day_of),
    "BOOLEAN": (lambda maker: maker.condition(1),),
    STRUCT: (Maker.packed,),
    ARRAY: (Maker.listed,),
}
