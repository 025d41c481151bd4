"""Random statements without Spark, on every kind of table: the rows that the rules of SQL leave.

``PAIMONLAB_SQL_SEQUENCES`` says how many sequences there are for each kind of table; without it
there is one for some kinds.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import DataError
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.sql_engine import changes, engine
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources
from paimonlab.table.table import Table
from tests.random_changes.cells import Cells, cells
from tests.random_changes.kinds import KINDS, our_columns
from tests.random_changes.queries import query
from tests.random_changes.sequences import rows_of, the_others
from tests.random_changes.statements import (
    Made,
    State,
    first_rows,
    next_statement,
    without_alias,
    written,
)
from tests.random_changes.values import Row

SEQUENCES = int(os.environ.get("PAIMONLAB_SQL_SEQUENCES", "0"))
CHOSEN = random.Random(os.environ.get("PAIMONLAB_SEED") or os.urandom(8)).sample([*KINDS], 8)
STATEMENTS = 8
"""Tried in each sequence; those that this engine refuses change nothing."""


def run(catalog: pl.Catalog, text: str) -> int | None:
    """Run a statement on our tables; return how many rows it says that it changed."""
    text = without_alias(text)
    return changes.run(text.replace("{t}", "db.t").replace("{u}", "db.u"), Sources(catalog)).rows


def opened(catalog: pl.Catalog) -> Table:
    """Open the table."""
    table = catalog.table("db.t")
    assert isinstance(table, Table)
    return table


def tried(catalog: pl.Catalog, made: Made, before: int) -> bool:
    """Run a statement unless it is refused; ``before``: how many rows there were."""
    try:
        if made.text.startswith("CALL"):
            opened(catalog).compact(full="full" in made.text)
        elif made.error:
            with pytest.raises(DataError, match=made.error):
                run(catalog, made.text)
        else:
            changed = run(catalog, made.text)
            if made.text.startswith("DELETE"):
                assert changed == before - len(made.rows), made.text
            if made.counts is not None:
                assert changed == made.counts[0], made.text
    except NotTranslatedError:
        return False
    return True


def filled(table: Table, rows: list[Row]) -> None:
    """Write the first rows."""
    table.write(pa.Table.from_pylist(rows, arrow_schema(table.schema.fields)))
    if table.schema.options.get("bucket") == "-2":
        table.compact(full=True)


def stored(table: Table) -> list[Cells]:
    """Read a table."""
    return cells(zip(*(one.to_pylist() for one in table.scan().to_arrow().columns), strict=True))


def one_sequence(catalog: pl.Catalog, name: str, said: str) -> None:
    """Make a table and change it."""
    rng, kind = random.Random(said), KINDS[name]
    catalog.drop_table("db.t", missing_ok=True)
    catalog.create_table(
        "db.t",
        our_columns(kind.keys),
        primary_keys=kind.keys,
        partition_keys=kind.partitions,
        options=kind.options,
    )
    state = State(kind, the_others(int(said.split(maxsplit=1)[0])))
    state.rows = first_rows(state, rng, 12)
    filled(opened(catalog), state.rows)
    done = [f"INSERT INTO {{t}} {written(state.columns, state.rows)}"]
    for _ in range(STATEMENTS):
        made = next_statement(state, rng)
        if made.settings or not tried(catalog, made, len(state.rows)):
            continue
        done.append(made.text)
        state.take(made)
        table = opened(catalog)
        if kind.is_postponed:
            table.compact(full=True)
        compare(stored(table), rows_of(state.rows, [*state.columns]), said, done)
        for _ in range(2):
            asked = query(state.columns, state.rows, state.others, rng)
            text = asked.text.replace("{t}", "db.t").replace("{u}", "db.u")
            try:
                found = engine.run(engine.plan(text, Sources(catalog)))
            except NotTranslatedError:
                continue
            left = cells(zip(*(one.to_pylist() for one in found.columns), strict=True))
            compare(left, asked.rows, said, [*done, text])
    report = opened(catalog).fsck(deep=True)
    assert not report.findings, (said, done, str(report))


def compare(left: list[Cells], expected: list[Cells], said: str, done: list[str]) -> None:
    """Compare rows; say which are wrong."""
    more, fewer = Counter(left), Counter(expected)
    told = f"{said!r}:\n" + ";\n".join(done)
    assert left == expected, f"{told}\nwrong: {[*(more - fewer)]}\nmissing: {[*(fewer - more)]}"


@pytest.mark.parametrize("name", [*KINDS] if SEQUENCES else CHOSEN)
def test_statements_leave_the_rows_that_sql_says(name: str, tmp_path: Path, seed: int) -> None:
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    filled(catalog.create_table("db.u", our_columns()), the_others(seed))
    for number in range(max(SEQUENCES, 1)):
        one_sequence(catalog, name, f"{seed} {name} {number}")
