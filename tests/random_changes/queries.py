"""Queries made up at random, and what they find by the rules of SQL."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.random_changes.cells import Cells, cells
from tests.random_changes.expressions import Maker
from tests.random_changes.kinds import COLUMNS
from tests.random_changes.values import ARRAY, STRUCT, Row, order_of

_ORDERED = ("INT", "BIGINT", "DECIMAL(10, 2)", "DATE", "TIMESTAMP", "STRING", "DOUBLE")


@dataclass(frozen=True, slots=True)
class Query:
    """A query over ``{t}`` and ``{u}``, and the rows that it finds."""

    text: str
    rows: list[Cells]


def query(
    columns: Mapping[str, str], rows: Sequence[Row], others: Sequence[Row], rng: random.Random
) -> Query:
    """Make up a query.

    Parameters
    ----------
    columns
        Types of ``{t}`` by name.
    rows, others
        The rows of ``{t}`` and of ``{u}``.
    """
    if rng.randrange(3) == 0:  # what metadata may answer
        where, chosen = "", list(rows)
        if rng.randrange(3) == 0:
            p = rng.randrange(3)
            where, chosen = f" WHERE t.p = {p}", [row for row in rows if row["p"] == p]
    else:
        condition = Maker(rng, {"t": columns}, others).condition()
        where = f" WHERE {condition.text}"
        chosen = [row for row in rows if condition.value({"t": row}) is True]
    made = rng.choice((_all, _all, _some, _extremes, _groups, _distinct, _first, _joined))
    return made(columns, chosen, others, rng, where)


def _all(columns: Mapping[str, str], chosen: Sequence[Row], _: Any, __: Any, where: str) -> Query:
    text = f"SELECT {', '.join(f't.{name}' for name in columns)} FROM {{t}} t{where}"
    return Query(text, cells([row[name] for name in columns] for row in chosen))


def _some(
    columns: Mapping[str, str], chosen: Sequence[Row], _: Any, rng: random.Random, where: str
) -> Query:
    names = rng.sample([*columns], rng.randint(1, 3))
    text = f"SELECT {', '.join(f't.{name}' for name in names)} FROM {{t}} t{where}"
    return Query(text, cells([row[name] for name in names] for row in chosen))


def _ordered(columns: Mapping[str, str], rng: random.Random) -> str:
    return rng.choice([name for name, kind in columns.items() if kind in _ORDERED])


def _extremes(
    columns: Mapping[str, str], chosen: Sequence[Row], _: Any, rng: random.Random, where: str
) -> Query:
    names = [_ordered(columns, rng) for _ in range(2)]
    values: list[Any] = [len(chosen)]
    text = "count(*)"
    for name in names:
        found = [row[name] for row in chosen if row[name] is not None]
        if columns[name] == "DOUBLE":  # -0.0 and 0.0 are one
            values.append(len(found))
            text += f", count(t.{name})"
            continue
        least, most = (choose(found, default=None) for choose in (min, max))
        values += [least, most, len(found)]
        text += f", min(t.{name}), max(t.{name}), count(t.{name})"
    return Query(f"SELECT {text} FROM {{t}} t{where}", cells([values]))


def _groups(
    columns: Mapping[str, str], chosen: Sequence[Row], _: Any, rng: random.Random, where: str
) -> Query:
    name = rng.choice(["p", "id", _ordered({**columns, "d": "ARRAY"}, rng)])
    counts = Counter(row[name] for row in chosen)
    text = f"SELECT t.{name}, count(*) FROM {{t}} t{where} GROUP BY t.{name}"
    return Query(text, cells(counts.items()))


def _distinct(_: Any, chosen: Sequence[Row], __: Any, rng: random.Random, where: str) -> Query:
    names = rng.choice((["p"], ["id"], ["p", "id"]))
    listed = ", ".join(f"t.{name}" for name in names)
    found = {tuple(row[name] for name in names) for row in chosen}
    return Query(f"SELECT DISTINCT {listed} FROM {{t}} t{where}", cells(found))


def _first(
    columns: Mapping[str, str], chosen: Sequence[Row], _: Any, rng: random.Random, where: str
) -> Query:
    kinds = {name: kind for name, kind in columns.items() if kind not in (STRUCT, ARRAY, "DOUBLE")}
    name = _ordered(kinds, rng)
    count, is_falling = rng.randrange(5), bool(rng.randrange(2))
    nulls_last = bool(rng.randrange(2))
    values = [row[name] for row in chosen]
    known = sorted((one for one in values if one is not None), key=order_of, reverse=is_falling)
    missing = [None] * (len(values) - len(known))
    ordered = [*known, *missing] if nulls_last else [*missing, *known]
    text = (
        f"SELECT t.{name} FROM {{t}} t{where} ORDER BY t.{name} {'DESC' if is_falling else 'ASC'} "
        f"NULLS {'LAST' if nulls_last else 'FIRST'} LIMIT {count}"
    )
    return Query(text, cells([one] for one in ordered[:count]))


def _joined(
    columns: Mapping[str, str],
    chosen: Sequence[Row],
    others: Sequence[Row],
    rng: random.Random,
    where: str,
) -> Query:
    name = rng.choice([*columns])
    condition = Maker(rng, {"u": COLUMNS}).condition(1)
    right = [row for row in others if condition.value({"u": row}) is True]
    both = [
        [one["id"], one[name], two["n"]]
        for one in chosen
        for two in right
        if one["id"] == two["id"]
    ]
    only = f"{where} AND" if where else " WHERE"
    if where:
        only = f" WHERE ({where.removeprefix(' WHERE ')}) AND"
    text = (
        f"SELECT t.id, t.{name}, u.n FROM {{t}} t JOIN {{u}} u ON t.id = u.id{only} "
        f"({condition.text})"
    )
    return Query(text, cells(both))
