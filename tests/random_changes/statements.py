"""Statements made up at random, and the rows that they leave by the rules of SQL.

A statement has a text for our tables and one for Delta's, which know no keys: there an INSERT into
a table with a primary key is a MERGE. `{t}` stands for the table, `{u}` for a second one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.random_changes.expressions import Expression, Maker
from tests.random_changes.kinds import COLUMNS, Kind
from tests.random_changes.values import ARRAY, STRUCT, Row, literal, some_value

IDS = 16
"""Ids are below it, at first."""
MANY = "several rows of"
STAYS = "would stay as it is"
DYNAMIC = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}


@dataclass(frozen=True, slots=True)
class Made:
    """A statement."""

    text: str
    delta: str
    """Empty: Delta does nothing."""
    rows: list[Row]
    """That it leaves."""
    counts: tuple[int, ...] | None = None
    """What it answers with, if it does."""
    error: str = ""
    """What its error says; the rows are as before then."""
    settings: Mapping[str, str] = field(default_factory=dict)
    columns: dict[str, str] | None = None
    """Types by names after it, if it changes them."""
    keeps_ids: bool = False
    """Whether rows that have an id of their own before and after it are the same rows."""


@dataclass(slots=True)
class State:
    """A table as it is, by the rules of SQL."""

    kind: Kind
    others: Sequence[Row]
    """The rows of ``{u}``."""
    columns: dict[str, str] = field(default_factory=lambda: dict(COLUMNS))
    rows: list[Row] = field(default_factory=list)
    altered: int = 0
    gone: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """By key of a row that was deleted: what said how new it was."""

    @property
    def fixed(self) -> list[str]:
        """Columns that no update changes."""
        return [*self.kind.keys, *(self.kind.partitions if self.kind.keys else ())]

    def take(self, made: Made) -> None:
        """Be as a statement leaves the table."""
        if self.kind.sequence:
            kept = {key_of(self.kind, row) for row in made.rows}
            for row in self.rows:
                if (key := key_of(self.kind, row)) not in kept:
                    self.gone[key] = row[self.kind.sequence]
        self.rows = made.rows
        if made.columns is not None:
            self.columns, self.altered = made.columns, self.altered + 1

    def is_certain(self, made: Made) -> bool:
        """Whether the rows that a statement leaves do not depend on what compactions forgot."""
        kind = self.kind
        if kind.group:  # a row without an order loses its values once another is written
            return all(row[kind.order] is not None for row in made.rows)
        if not kind.sequence:
            return True
        there = {key_of(kind, row) for row in self.rows}
        new = [row for row in made.rows if key_of(kind, row) not in there]
        return not any(  # a newer row that was deleted hides it
            (key := key_of(kind, row)) in self.gone
            and _is_newer(self.gone[key], row[kind.sequence])
            for row in new
        )

    def ignores(self, old: Row, new: Row) -> bool:
        """Whether the old row is newer than what an update makes of it; that is refused."""
        order = self.kind.order
        return bool(order) and _is_newer(old[order], new[order])


def other_rows(rng: random.Random) -> list[Row]:
    """Make up the rows of ``{u}``: ids that are there once."""
    ids = sorted(rng.sample(range(IDS + 6), 12))
    return [
        {name: one if name == "id" else _value(name, kind, rng) for name, kind in COLUMNS.items()}
        for one in ids
    ]


def _value(name: str, kind: str, rng: random.Random) -> Any:
    return rng.randrange(3) if name == "p" else some_value(kind, rng)


def some_rows(state: State, rng: random.Random, count: int, *, distinct: bool) -> list[Row]:
    """Make up rows for a table."""
    taken: set[int] = set()
    found = []
    for _ in range(count):
        number = rng.randrange(IDS)
        if distinct and number in taken:
            continue
        taken.add(number)
        row = {name: some_value(kind, rng) for name, kind in state.columns.items()}
        p = None if "p" not in state.kind.keys and not state.kind.moves else 0
        chance = rng.random() < 0.1 and p is None
        found.append(row | {"id": number, "p": None if chance else rng.randrange(3)})
    return found


def first_rows(state: State, rng: random.Random, count: int) -> list[Row]:
    """Make up rows for a new table."""
    rows = some_rows(state, rng, count, distinct=bool(state.kind.keys))
    if state.kind.group:
        return [row for row in rows if row[state.kind.order] is not None]
    return rows


def written(columns: Mapping[str, str], rows: Iterable[Row]) -> str:
    """Write rows as a query."""
    texts = [
        "(" + ", ".join(literal(kind, row[name]) for name, kind in columns.items()) + ")"
        for row in rows
    ]
    names = ", ".join(columns)
    if not texts:
        nothing = ", ".join(f"{literal(kind, None)} AS {name}" for name, kind in columns.items())
        return f"SELECT {nothing} WHERE false"
    return f"SELECT * FROM VALUES {', '.join(texts)} AS s ({names})"


def key_of(kind: Kind, row: Row) -> tuple[Any, ...]:
    """Return the primary key of a row."""
    return tuple(row[name] for name in kind.keys)


def upserted(state: State, new: Iterable[Row]) -> list[Row]:
    """Return the rows after others were written."""
    kind = state.kind
    if not kind.keys:
        return [*state.rows, *new]
    found = {key_of(kind, row): row for row in state.rows}
    for row in new:
        key = key_of(kind, row)
        old = found.get(key)
        found[key] = row if old is None else _merged(kind, old, row)
    return list(found.values())


def _merged(kind: Kind, old: Row, new: Row) -> Row:
    if kind.sequence and _is_newer(old[kind.sequence], new[kind.sequence]):
        return old
    match kind.engine:
        case "first-row":
            return old
        case "partial-update":
            chosen = old | {
                name: value
                for name, value in new.items()
                if value is not None and name not in kind.group
            }
            if kind.group and not _is_newer(old[kind.order], new[kind.order]):
                chosen |= {name: new[name] for name in kind.group}
            return chosen
        case "aggregation":
            chosen = old | {name: value for name, value in new.items() if value is not None}
            for name, function in (("n", _plus), ("m", max), ("day", min)):
                if old[name] is not None and new[name] is not None:
                    chosen[name] = function(old[name], new[name])
            return chosen
    return new


def _is_newer(one: Any, other: Any) -> bool:
    """Whether a sequence is greater than another; NULL is the least."""
    return one is not None and (other is None or one > other)


def _plus(left: int, right: int) -> int:
    return left + right


def upsert_of_delta(state: State, query: str) -> str:
    """Write an INSERT as Delta has to be told it."""
    kind = state.kind
    if not kind.keys:
        names = ", ".join(state.columns)
        return f"INSERT INTO {{t}} ({names}) SELECT {names} FROM ({query}) s"
    text = f"MERGE INTO {{t}} t USING ({query}) s ON {_on(kind)}"
    match kind.engine:
        case "deduplicate":
            newer = (
                f" AND coalesce(s.{kind.sequence} >= t.{kind.sequence}, t.{kind.sequence} IS NULL)"
            )
            text += f" WHEN MATCHED{newer if kind.sequence else ''} THEN UPDATE SET *"
        case "partial-update" | "aggregation":
            sums = {
                "n": "coalesce(t.n + s.n, t.n, s.n)",
                "m": "coalesce(greatest(t.m, s.m), t.m, s.m)",
                "day": "coalesce(least(t.day, s.day), t.day, s.day)",
            }
            if kind.engine == "partial-update":
                sums = {
                    name: f"CASE WHEN s.{kind.order} >= t.{kind.order} THEN s.{name} "
                    f"ELSE t.{name} END"
                    for name in kind.group
                }
            rest = [name for name in state.columns if name not in kind.keys]
            assigned = (f"{one} = {sums.get(one, f'coalesce(s.{one}, t.{one})')}" for one in rest)
            text += f" WHEN MATCHED THEN UPDATE SET {', '.join(assigned)}"
    return f"{text} WHEN NOT MATCHED THEN INSERT *"


def _on(kind: Kind) -> str:
    return " AND ".join(f"t.{name} = s.{name}" for name in kind.keys)


def insert(state: State, rng: random.Random) -> Made | None:
    """Insert rows: values, rows of another table or of itself; all columns or some."""
    keyed = bool(state.kind.keys)
    match rng.randrange(4):
        case 0:
            return insert_some_columns(state, rng)
        case 1:
            return insert_queried(state, rng)
    new = some_rows(state, rng, rng.randrange(1, 7), distinct=keyed)
    query = written(state.columns, new)
    text = f"INSERT INTO {{t}} {query}"
    if rng.randrange(3) == 0:
        names = [*state.columns]
        rng.shuffle(names)
        text = f"INSERT INTO {{t}} BY NAME SELECT {', '.join(names)} FROM ({query}) s"
    return Made(text, upsert_of_delta(state, query), upserted(state, new))


def insert_some_columns(state: State, rng: random.Random) -> Made:
    """Insert rows with a list of columns; the others are NULL."""
    rest = [name for name in state.columns if name not in ("id", "p")]
    names = ["id", "p", *rng.sample(rest, rng.randrange(1, len(rest)))]
    rng.shuffle(names)
    some = {name: state.columns[name] for name in names}
    full = some_rows(state, rng, rng.randrange(1, 6), distinct=bool(state.kind.keys))
    new = [{name: row[name] if name in some else None for name in state.columns} for row in full]
    text = f"INSERT INTO {{t}} ({', '.join(names)}) {written(some, new)}"
    return Made(text, upsert_of_delta(state, written(state.columns, new)), upserted(state, new))


def insert_queried(state: State, rng: random.Random) -> Made | None:
    """Insert what a query finds in the other table, or in the table itself with other ids."""
    itself = bool(rng.randrange(2))
    if not itself and [*state.columns.items()] != [*COLUMNS.items()]:
        return None
    side, rows = ("t", state.rows) if itself else ("u", state.others)
    if len(state.rows) > 60:
        return None
    condition = Maker(rng, {side: state.columns}).condition()
    shift = 40 if itself else 0
    chosen = [
        row | {"id": row["id"] + shift} for row in rows if condition.value({side: row}) is True
    ]
    if state.kind.keys and len({key_of(state.kind, row) for row in chosen}) < len(chosen):
        return None
    rest = ", ".join(f"{side}.{name}" for name in state.columns if name != "id")
    query = (
        f"SELECT {side}.id + {shift} AS id, {rest} FROM {{{side}}} {side} WHERE {condition.text}"
    )
    text = f"INSERT INTO {{t}} {query}"
    return Made(text, upsert_of_delta(state, query), upserted(state, chosen))


def delete(state: State, rng: random.Random) -> Made:
    """Delete rows by a condition, of a partition at times."""
    condition = Maker(rng, {"t": state.columns}, state.others).condition()
    if rng.randrange(6) == 0:
        p = rng.randrange(3)
        condition = Expression(f"t.p = {p}", lambda rows: rows["t"]["p"] == p)
    kept = [row for row in state.rows if condition.value({"t": row}) is not True]
    return Made(
        f"DELETE FROM {{t}} t WHERE {condition.text}",
        f"DELETE FROM {{t}} t WHERE {condition.without_subqueries}",
        kept,
        (len(state.rows) - len(kept),),
        keeps_ids=True,
    )


def delete_all(state: State, rng: random.Random) -> Made:
    """Delete all rows."""
    text = rng.choice(("DELETE FROM {t}", "TRUNCATE TABLE {t}"))
    if state.kind.keys and not state.kind.deletes:  # DELETE is refused there
        text = "TRUNCATE TABLE {t}"
    return Made(text, "DELETE FROM {t}", [], (len(state.rows),) if "DELETE" in text else None)


def _constant(number: int) -> Expression:
    return Expression(str(number), lambda rows: number)


def assignments(
    state: State, maker: Maker, rng: random.Random
) -> tuple[str, str, Callable[[Mapping[str, Row]], Row]]:
    """Make up what an UPDATE sets: for us, for Delta, and the new values."""
    names = [name for name in state.columns if name not in (*state.fixed, "id")]
    if state.kind.partitions and "data-evolution.enabled" in state.kind.options:
        names = [name for name in names if name not in state.kind.partitions]
    chosen = rng.sample(names, rng.randint(1, min(3, len(names))))
    made: dict[str, Expression] = {}
    for name in chosen:
        if name == "p":
            made[name] = _constant(rng.randrange(3))
        else:
            made[name] = maker.value_for(name, state.columns[name])
    text = ", ".join(f"t.{name} = {one.text}" for name, one in made.items())
    plain = ", ".join(f"t.{name} = {one.without_subqueries}" for name, one in made.items())
    return text, plain, lambda rows: {name: one.value(rows) for name, one in made.items()}


def _loses_a_value(state: State, new: Row) -> bool:
    """Whether an update to NULL would be ignored; such updates are refused."""
    return state.kind.engine == "partial-update" and any(value is None for value in new.values())


def update(state: State, rng: random.Random) -> Made | None:
    """Update rows, with a condition or without."""
    maker = Maker(rng, {"t": state.columns}, state.others)
    text, plain, new_values = assignments(state, Maker(rng, {"t": state.columns}), rng)
    condition = maker.condition()
    found, count, stays = [], 0, False
    for row in state.rows:
        rows = {"t": row}
        if condition.value(rows) is True:
            new = new_values(rows)
            if _loses_a_value(state, new):
                return None
            stays |= state.ignores(row, row | new)
            found.append(row | new)
            count += 1
        else:
            found.append(row)
    if stays:
        text = f"UPDATE {{t}} t SET {text} WHERE {condition.text}"
        return Made(text, "", state.rows, error=STAYS)
    return Made(
        f"UPDATE {{t}} t SET {text} WHERE {condition.text}",
        f"UPDATE {{t}} t SET {plain} WHERE {condition.without_subqueries}",
        found,
        (count,),
        keeps_ids=True,
    )


@dataclass(frozen=True, slots=True)
class Source:
    """Where a MERGE takes its rows from."""

    text: str
    rows: list[Row]
    columns: dict[str, str]


def source(state: State, rng: random.Random) -> Source | None:
    """Make up the source of a MERGE."""
    match rng.randrange(4):
        case 0:
            condition = Maker(rng, {"u": COLUMNS}).condition()
            chosen = [row for row in state.others if condition.value({"u": row}) is True]
            text = f"SELECT * FROM {{u}} u WHERE {condition.text}"
            return Source(text, chosen, dict(COLUMNS))
        case 1 if len(state.rows) < 40:
            condition = Maker(rng, {"t": state.columns}).condition()
            chosen = [row for row in state.rows if condition.value({"t": row}) is True]
            shift = rng.choice((0, 3))
            chosen = [row | {"id": row["id"] + shift} for row in chosen]
            rest = ", ".join(f"t.{name}" for name in state.columns if name != "id")
            text = f"SELECT t.id + {shift} AS id, {rest} FROM {{t}} t WHERE {condition.text}"
            return Source(text, chosen, dict(state.columns))
    distinct = bool(state.kind.keys) or rng.randrange(5) > 0
    rows = some_rows(state, rng, rng.randrange(0, 8), distinct=distinct)
    return Source(written(state.columns, rows), rows, dict(state.columns))


@dataclass(slots=True)
class Clause:
    """A clause of a MERGE."""

    condition: Expression | None
    text: str
    plain: str
    new: Callable[[Mapping[str, Row]], Row] | None
    """The values it writes; None: it deletes."""

    def holds(self, rows: Mapping[str, Row]) -> bool:
        """Whether its condition is true."""
        return self.condition is None or self.condition.value(rows) is True

    def written(self, word: str, *, plain: bool) -> str:
        """Write it."""
        only = ""
        if self.condition is not None:
            one = self.condition
            only = f" AND {one.without_subqueries if plain else one.text}"
        return f" WHEN {word}{only} THEN {self.plain if plain else self.text}"


def merge(state: State, rng: random.Random) -> Made | None:
    """Merge rows of a source, by any clauses that the table can have."""
    kind, given = state.kind, source(state, rng)
    if given is None:
        return None
    keyed = bool(kind.keys)
    inserts = [_insert_clause(state, given, rng, last=i) for i in _some_clauses(rng)]
    on = _condition_of_merge(state, given, rng, plain=keyed and bool(inserts))
    sides = {"t": state.columns, "s": given.columns}
    matched: list[Clause] = []
    by_source: list[Clause] = []
    if kind.updates:
        matched = [
            _change_clause(state, given, sides, rng, last=last) for last in _some_clauses(rng)
        ]
        if rng.randrange(3) == 0:
            alone = {"t": state.columns}
            by_source = [
                _change_clause(state, given, alone, rng, last=last) for last in _some_clauses(rng)
            ]
    if not (matched or by_source or inserts):
        return None
    if keyed and inserts:
        keys = {key_of(kind, row) for row in given.rows}
        if len(keys) < len(given.rows) or any(None in key for key in keys):
            return None
    texts = [
        f"MERGE INTO {{t}} t USING ({given.text}) s ON "
        + (on.without_subqueries if plain else on.text)
        + "".join(one.written("MATCHED", plain=plain) for one in matched)
        + "".join(one.written("NOT MATCHED", plain=plain) for one in inserts)
        + "".join(one.written("NOT MATCHED BY SOURCE", plain=plain) for one in by_source)
        for plain in (False, True)
    ]
    return _merge_done(state, given.rows, on, (matched, inserts, by_source), texts)


def _merge_done(
    state: State,
    rows: list[Row],
    on: Expression,
    clauses: tuple[list[Clause], list[Clause], list[Clause]],
    texts: Sequence[str],
) -> Made | None:
    """Do what a MERGE does."""
    matched, inserts, by_source = clauses
    only_deletes = bool(matched) and matched[0].condition is None and matched[0].new is None
    updated = deleted = 0
    is_many = stays = False
    kept: list[Row] = []
    used: set[int] = set()
    for row in state.rows:
        found = [i for i, one in enumerate(rows) if on.value({"t": row, "s": one}) is True]
        used.update(found)
        pairs: list[Mapping[str, Row]] = [{"t": row, "s": rows[i]} for i in found]
        fired = [
            (one, sides)
            for sides in pairs or [{"t": row}]
            for one in [
                next((e for e in (matched if pairs else by_source) if e.holds(sides)), None)
            ]
            if one is not None
        ]
        is_many |= len(fired) > 1 and not only_deletes
        chosen, sides = fired[0] if fired else (None, {})
        if chosen is None:
            kept.append(row)
        elif chosen.new is None:
            deleted += 1
        else:
            new = chosen.new(sides)
            if _loses_a_value(state, new):
                return None
            stays |= state.ignores(row, row | new)
            kept.append(row | new)
            updated += 1
    if is_many or stays:
        error = "|".join([MANY] * is_many + [STAYS] * stays)
        return Made(texts[0], "", state.rows, error=error)
    added = []
    for number, one in enumerate(rows):
        if number not in used:
            clause = next((each for each in inserts if each.holds({"s": one})), None)
            if clause is not None and clause.new is not None:
                added.append(dict.fromkeys(state.columns) | clause.new({"s": one}))
    counts = (updated + deleted + len(added), updated, deleted, len(added))
    keeps_ids = not added and "SET *" not in texts[0]
    return Made(texts[0], texts[1], [*kept, *added], counts, keeps_ids=keeps_ids)


def _some_clauses(rng: random.Random) -> list[bool]:
    """Return how many clauses there are: whether each is the last of its kind."""
    count = rng.choice((0, 1, 1, 2))
    return [number == count - 1 for number in range(count)]


def _condition_of_merge(
    state: State, given: Source, rng: random.Random, *, plain: bool
) -> Expression:
    names = state.kind.keys or ("id",)

    def same(rows: Mapping[str, Row]) -> bool | None:
        return all(rows["t"][name] == rows["s"][name] for name in names) and not any(
            rows["t"][name] is None for name in names
        )

    on = Expression(" AND ".join(f"t.{name} = s.{name}" for name in names), same)
    if plain or rng.random() < 0.6:
        return on
    more = Maker(rng, {"t": state.columns, "s": given.columns}).condition(1)
    word = "OR" if not state.kind.keys and rng.randrange(5) == 0 else "AND"

    def value(rows: Mapping[str, Row]) -> bool | None:
        if word == "AND":
            return same(rows) is True and more.value(rows) is True
        return same(rows) is True or more.value(rows) is True

    return Expression(f"{on.text} {word} ({more.text})", value)


def _change_clause(
    state: State,
    given: Source,
    sides: Mapping[str, Mapping[str, str]],
    rng: random.Random,
    *,
    last: bool,
) -> Clause:
    """Make up a clause that updates or deletes."""
    maker = Maker(rng, sides, state.others if rng.randrange(4) == 0 else ())
    condition = None if last and rng.randrange(2) else maker.condition(1)
    if state.kind.deletes and rng.randrange(3) == 0:
        return Clause(condition, "DELETE", "DELETE", None)
    is_star = (
        "s" in sides
        and [*given.columns.items()] == [*state.columns.items()]
        and rng.randrange(3) == 0
        and not (state.kind.partitions and not state.kind.keys)
        and not state.kind.moves
    )
    if is_star:
        return Clause(condition, "UPDATE SET *", "UPDATE SET *", _star(state))
    text, plain, new = assignments(state, Maker(rng, sides), rng)
    return Clause(condition, f"UPDATE SET {text}", f"UPDATE SET {plain}", new)


def _star(state: State) -> Callable[[Mapping[str, Row]], Row]:
    fixed = state.fixed
    return lambda rows: {name: value for name, value in rows["s"].items() if name not in fixed}


def _insert_clause(state: State, given: Source, rng: random.Random, *, last: bool) -> Clause:
    """Make up a clause that inserts."""
    maker = Maker(rng, {"s": given.columns})
    condition = None if last and rng.randrange(2) else maker.condition(1)
    if [*given.columns] == [*state.columns] and rng.randrange(2):
        return Clause(condition, "INSERT *", "INSERT *", lambda rows: dict(rows["s"]))
    rest = [name for name in state.columns if name not in ("id", "p")]
    names = rng.sample(rest, rng.randint(1, len(rest)))
    made = {name: maker.value_for(name, state.columns[name]) for name in names}
    made |= {
        name: Expression(f"s.{name}", lambda rows, name=name: rows["s"][name])  # type: ignore[misc]
        for name in ("id", "p")
    }
    listed, values = ", ".join(made), ", ".join(one.text for one in made.values())
    text = f"INSERT ({listed}) VALUES ({values})"
    return Clause(
        condition,
        text,
        text,
        lambda rows: {name: one.value(rows) for name, one in made.items()},
    )


def overwrite(state: State, rng: random.Random) -> Made | None:
    """Overwrite the table, or partitions of it."""
    kind = state.kind
    keyed = bool(kind.keys)
    new = some_rows(state, rng, rng.randrange(0, 7), distinct=keyed)
    names = ", ".join(state.columns)
    if not kind.partitions or kind.moves or rng.randrange(3) == 0:
        if rng.randrange(2):
            return _overwrite_by_itself(state, rng)
        query = written(state.columns, new)
        return Made(
            f"INSERT OVERWRITE {{t}} {query}", f"INSERT OVERWRITE {{t}} ({names}) {query}", new
        )
    if rng.randrange(2):
        query = written(state.columns, new)
        touched = {row["p"] for row in new}
        kept = [row for row in state.rows if row["p"] not in touched]
        text = f"INSERT OVERWRITE {{t}} {query}"
        return Made(text, text, [*kept, *new], settings=DYNAMIC)
    p = rng.randrange(3)
    placed = [row | {"p": p} for row in new]
    rest = {name: type_ for name, type_ in state.columns.items() if name != "p"}
    kept = [row for row in state.rows if row["p"] != p]
    if rng.randrange(2):
        text = f"INSERT INTO {{t}} REPLACE WHERE p = {p} {written(state.columns, placed)}"
    else:
        text = f"INSERT OVERWRITE {{t}} PARTITION (p = {p}) {written(rest, placed)}"
    return Made(text, text, [*kept, *placed])


def _overwrite_by_itself(state: State, rng: random.Random) -> Made:
    """Overwrite a table by some of its own rows."""
    maker = Maker(rng, {"t": state.columns})
    condition = maker.condition()
    name = rng.choice([one for one in state.columns if one not in ("id", "p")])
    made = maker.value_for(name, state.columns[name])
    chosen = [
        row | {name: made.value({"t": row})}
        for row in state.rows
        if condition.value({"t": row}) is True
    ]
    values = ", ".join(
        f"{made.text} AS {one}" if one == name else f"t.{one}" for one in state.columns
    )
    query = f"SELECT {values} FROM {{t}} t WHERE {condition.text}"
    text = f"INSERT OVERWRITE {{t}} {query}"
    return Made(text, text, chosen)


def compact(state: State, rng: random.Random) -> Made:
    """Compact the table, which changes no row."""
    strategy = rng.choice(("full", "minor"))
    text = f"CALL paimon.sys.compact(table => 'db.t', compact_strategy => '{strategy}')"
    return Made(text, "", state.rows, keeps_ids=True)


def alter(state: State, rng: random.Random) -> Made | None:
    """Add a column, rename one, or drop one."""
    if state.altered >= 3:
        return None
    columns = dict(state.columns)
    what = rng.choice(("add", "rename", "drop"))
    free = [name for name in columns if name not in ("id", "p")]
    if what == "drop" and len(free) < 6:
        return None
    new = f"c{state.altered}"
    if what == "add":
        kind = rng.choice(("INT", "STRING", "DOUBLE", STRUCT, ARRAY))
        columns[new] = kind
        rows = [row | {new: None} for row in state.rows]
        text = f"ALTER TABLE {{t}} ADD COLUMN {new} {kind}"
        return Made(text, text, rows, columns=columns, keeps_ids=True)
    name = rng.choice(free)
    if what == "drop":
        del columns[name]
        rows = [{one: row[one] for one in columns} for row in state.rows]
        text = f"ALTER TABLE {{t}} DROP COLUMN {name}"
        return Made(text, text, rows, columns=columns, keeps_ids=True)
    columns = {new if one == name else one: kind for one, kind in columns.items()}
    rows = [{new if one == name else one: v for one, v in row.items()} for row in state.rows]
    text = f"ALTER TABLE {{t}} RENAME COLUMN {name} TO {new}"
    return Made(text, text, rows, columns=columns, keeps_ids=True)


def without_alias(text: str) -> str:
    """Return a DELETE or UPDATE that calls its table by no other name."""
    if not text.startswith(("DELETE FROM {t} t ", "UPDATE {t} t ")) or "{u}" in text:
        return text
    return re.sub(r"\bt\.", "", text.replace("{t} t ", "{t} ", 1))


def next_statement(state: State, rng: random.Random) -> Made:
    """Make up a statement that the table can take."""
    kind = state.kind
    makers: list[Callable[[State, random.Random], Made | None]] = [insert, insert, merge, merge]
    makers += [overwrite, compact]
    if kind.evolves:
        makers.append(alter)
    if kind.updates:
        makers += [update, update, merge, merge]
    if kind.deletes:
        makers += [delete, delete]
    if rng.randrange(15) == 0:
        makers = [delete_all]
    if not state.rows:
        makers = [insert, merge, overwrite]
    while True:
        made = rng.choice(makers)(state, rng)
        if made is None or (made.error and rng.randrange(3)):
            continue
        if state.is_certain(made):
            return made
