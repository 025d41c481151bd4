"""A merge as users write it, bound to the columns of a table and of its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.progress import Progress
from paimonlab.spec.predicates.predicate import Predicate, all_of, bind, col
from paimonlab.table.changing.assignments import Values, new_value
from paimonlab.table.changing.merging import RunningMerge
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.write.expressions.conditions import truth
from paimonlab.write.expressions.join_conditions import JoinKey, parse_join
from paimonlab.write.expressions.sql import parse_expression
from paimonlab.write.merge_clauses import Clause, ClauseKind
from paimonlab.write.merge_rows import SIDES, SOURCE, TARGET, MergeClause, MergeRules, sided

_SIDES_OF = {
    ClauseKind.MATCHED: SIDES,
    ClauseKind.NOT_MATCHED: (SOURCE,),
    ClauseKind.NOT_MATCHED_BY_SOURCE: (TARGET,),
}
_MOST_KEYS = 1_000
"""Keys of the source that are asked for one by one; more are asked for as a range."""


def running_merge(
    definition: TableDefinition,
    store: TableStore,
    source: pa.Table,
    on: str,
    clauses: Sequence[tuple[Clause, Mapping[str, object] | None, str | None]],
    *,
    progress: Progress | None,
) -> RunningMerge:
    """Bind a merge.

    Parameters
    ----------
    definition, store
        The target's definition and store.
    source
        All source rows.
    on
        SQL text: when rows belong together.
    clauses
        Each with the values of columns (None: all that the source has) and its condition.
    progress
        As `Merge.execute` takes it.
    """
    table = definition.name
    fields = {
        TARGET: [pa.field(f"{TARGET}.{field.name}", field.type) for field in _columns(definition)],
        SOURCE: [pa.field(f"{SOURCE}.{field.name}", field.type) for field in source.schema],
    }
    join = parse_join(on, pa.schema([*fields[TARGET], *fields[SOURCE]]), SIDES, table)
    joined = {key.names for key in join.keys}
    bound = []
    for rule, values, where in clauses:
        sides = _SIDES_OF[rule.kind]
        schema = pa.schema([field for side in sides for field in fields[side]])
        condition = None
        if where is not None:
            condition = truth(parse_expression(where, schema, table, sides))
        given = _by_name(definition, source) if values is None else values
        if values is None and rule.kind is ClauseKind.MATCHED:
            # They have these values already.
            given = {name: new for name, new in given.items() if (name, name) not in joined}
        new = _new_values(definition, given, schema, sides) if rule.action.has_values else {}
        bound.append(MergeClause(rule, condition, new))
    rules = MergeRules(table, join, bound)
    predicate = None if rules.touches_unmatched else _predicate(definition, join.keys, source)
    return RunningMerge(definition, store, rules, source, predicate, progress)


def _columns(definition: TableDefinition) -> pa.Schema:
    return definition.schema.arrow_schema


def _by_name(definition: TableDefinition, source: pa.Table) -> Mapping[str, object]:
    names = definition.schema.field_names
    return {name: col(f"{SOURCE}.{name}") for name in names if name in source.schema.names}


def _new_values(
    definition: TableDefinition,
    given: Mapping[str, object],
    schema: pa.Schema,
    sides: Sequence[str],
) -> Mapping[str, Values]:
    table = definition.name
    return {
        name: new_value(value, definition.schema.field(name), schema, table, sides)
        for name, value in given.items()
    }


def _predicate(
    definition: TableDefinition, keys: Sequence[JoinKey], source: pa.Table
) -> Predicate | None:
    """Say what target rows have in common that belong to a source row: their keys are there."""
    rows = sided(source, SOURCE)
    known = []
    for key in keys:
        if key.column is None or not _is_exact(key.left.type):
            continue
        values = pc.unique(key.right.evaluate(rows)).drop_null()
        if not len(values):
            continue
        column = col(key.column)
        if len(values) <= _MOST_KEYS:
            known.append(column.is_in(values.to_pylist()))
        else:
            ends = pc.min_max(values)
            known.append(column.between(ends["min"].as_py(), ends["max"].as_py()))
    return bind(all_of(*known), definition.schema.fields, definition.name) if known else None


def _is_exact(data_type: pa.DataType) -> bool:
    """Whether values can be compared as Python objects without loss."""
    types = pa.types
    is_number = types.is_integer(data_type) or types.is_decimal(data_type)
    return is_number or types.is_string(data_type) or types.is_date32(data_type)
