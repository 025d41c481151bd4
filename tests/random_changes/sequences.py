"""Sequences of random statements on tables of every kind."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.random_changes.cells import Cells, cells
from tests.random_changes.kinds import KINDS, Kind
from tests.random_changes.statements import (
    Made,
    State,
    first_rows,
    next_statement,
    other_rows,
    upsert_of_delta,
    upserted,
    written,
)
from tests.random_changes.values import Row


@dataclass(frozen=True, slots=True)
class Sequenced:
    """A sequence of statements for a new table."""

    name: str
    kind: Kind
    seed: str
    """Makes it again."""
    others: list[Row]
    steps: list[Made]
    columns: list[dict[str, str]]
    """After each step."""

    def rows_after(self, number: int) -> list[Cells]:
        """Return the rows after a step, as texts."""
        names = [*self.columns[number]]
        return rows_of(self.steps[number].rows, names)


def rows_of(rows: Sequence[Row], names: Sequence[str]) -> list[Cells]:
    """Return rows as texts."""
    return cells([row[name] for name in names] for row in rows)


def the_others(seed: int) -> list[Row]:
    """Return the rows of the second table, the same for all sequences of a seed."""
    return other_rows(random.Random(f"{seed} others"))


def sequence(name: str, seed: int, number: int, statements: int) -> Sequenced:
    """Make up a sequence for a kind of table; any can be made again alone."""
    said = f"{seed} {name} {number}"
    rng = random.Random(said)
    state = State(KINDS[name], the_others(seed))
    steps: list[Made] = []
    columns: list[dict[str, str]] = []
    for step in range(statements + 1):
        if step:
            made = next_statement(state, rng)
        else:
            new = first_rows(state, rng, 12)
            query = written(state.columns, new)
            text = f"INSERT INTO {{t}} {query}"
            made = Made(text, upsert_of_delta(state, query), upserted(state, new))
        state.take(made)
        steps.append(made)
        columns.append(dict(state.columns))
    return Sequenced(name, KINDS[name], said, list(state.others), steps, columns)
