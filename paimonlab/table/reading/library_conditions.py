"""Conditions made with pyarrow or polars: their library says of each row whether they are true.

What of them is understood here as well rules out files: comparisons of columns that are not floats
with values of their own type, with and, or, not and tests for null.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import ColumnNotFoundError, SchemaError, UnsupportedError
from paimonlab.interrupts import whole_module
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.table.reading import polars_trees
from paimonlab.table.reading.arrow_texts import read_expression

Truth: TypeAlias = Callable[[pa.RecordBatch], pa.Array]
"""Makes a truth value of each row: true, false or null."""
_RESULT = "truth"


@dataclass(frozen=True, slots=True)
class LibraryCondition:
    """What a library makes of a condition."""

    text: str
    columns: frozenset[str]
    """What it reads."""
    evaluate: Truth
    known: Predicate | None
    """True wherever the condition is; None: that may be anywhere."""
    is_whole: bool
    """Whether ``known`` is all of the condition."""


def library_condition(where: Any, schema: pa.Schema, table: str) -> LibraryCondition:
    """Read an expression of pyarrow or polars.

    Parameters
    ----------
    where
        The expression.
    schema
        Columns that it may read.
    table
        For messages.

    Raises
    ------
    ColumnNotFoundError
        If a column does not exist.
    SchemaError
        If it is no truth value, or the library says that it cannot be computed.
    UnsupportedError
        If its value depends on other rows.
    """
    of_arrow = isinstance(where, pc.Expression)
    made = _of_arrow(where, schema) if of_arrow else _of_polars(where, schema, table)
    asked = [field for field in schema if field.name in made.columns]
    nulls = [pa.nulls(1, field.type) for field in asked]
    row = pa.RecordBatch.from_arrays(nulls, names=[field.name for field in asked])
    try:
        kind = made.evaluate(row).type
    except Exception as error:
        raise SchemaError(f"{table}: {made.text} cannot be computed: {error}") from error
    if not pa.types.is_boolean(kind):
        raise SchemaError(f"{table}: {made.text} is no truth value but {kind}")
    return made


def _of_arrow(where: pc.Expression, schema: pa.Schema) -> LibraryCondition:
    names = frozenset(name for name in schema.names if _needs(where, schema, name))

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        return _projected(where, rows.select([name for name in rows.schema.names if name in names]))

    known = read_expression(where, schema)
    return LibraryCondition(str(where), names, evaluate, known, is_whole=known is not None)


def _needs(where: pc.Expression, schema: pa.Schema, name: str) -> bool:
    """Tell whether an expression cannot be computed without a column."""
    others = pa.schema([field for field in schema if field.name != name])
    try:
        _projected(where, pa.RecordBatch.from_pylist([], schema=others))
    except pa.ArrowInvalid as error:
        return "No match for FieldRef" in str(error)
    except pa.ArrowException:
        return False
    return False


def _projected(where: pc.Expression, rows: pa.RecordBatch) -> pa.Array:
    acero = whole_module("pyarrow.acero")
    source = acero.Declaration(
        "table_source", acero.TableSourceNodeOptions(pa.Table.from_batches([rows]))
    )
    options = acero.ProjectNodeOptions([where], [_RESULT])
    steps = acero.Declaration.from_sequence([source, acero.Declaration("project", options)])
    found = steps.to_table(use_threads=False)[_RESULT].combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found


def _of_polars(where: Any, schema: pa.Schema, table: str) -> LibraryCondition:
    polars = whole_module("polars")
    text, names = str(where), frozenset(where.meta.root_names())
    for name in sorted(names.difference(schema.names)):
        raise ColumnNotFoundError(name, table, schema.names)
    tree = polars_trees.tree_of(where)
    if not names or (other := polars_trees.beyond_rows(tree)):
        what = "it reads no column" if not names else f"{other} may look at other rows"
        raise UnsupportedError(
            f"{text} as a condition of {table}",
            f"{what}; scan.to_polars_lazy().filter(…) takes every expression",
        )

    def evaluate(rows: pa.RecordBatch) -> pa.Array:
        frame = polars.from_arrow(rows.select([one for one in rows.schema.names if one in names]))
        found = frame.select(where.alias(_RESULT)).to_series()
        return pa.array(found.to_arrow())

    known, is_whole = polars_trees.predicate_of(tree, schema)
    return LibraryCondition(text, names, evaluate, known, is_whole)
