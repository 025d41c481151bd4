"""Statements that write or define, by verbs of tables and of the catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from sqlglot import exp

from paimonlab.errors import ColumnNotFoundError, SchemaError, UnsupportedError
from paimonlab.progress import Progress
from paimonlab.spec.plurals import many
from paimonlab.spec.predicates.predicate import Predicate, all_of
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.sql_text.guesses import guess
from paimonlab.spec.sql_text.ingest_syntax import begins_ingest
from paimonlab.spec.sql_text.insert_columns import columns_advice
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.spec.types.data_types import DataField
from paimonlab.sql_engine import engine, kinds, merges, pushing
from paimonlab.sql_engine.done import Done
from paimonlab.sql_engine.engine import EngineOptions, Planned
from paimonlab.sql_engine.expressions import Translator
from paimonlab.sql_engine.given import Given
from paimonlab.sql_engine.kinds import kind_of
from paimonlab.sql_engine.refusal import NotTranslatedError, told_of_habits
from paimonlab.sql_engine.refused_changes import told_of_merges
from paimonlab.sql_engine.scope import Relation, Scope, SqlColumn
from paimonlab.sql_engine.statements import alterations, definitions, partitions
from paimonlab.sql_engine.statements.calls import refuse_habit
from paimonlab.sql_engine.storing import check_stored, constant_value, stored_query
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import check_parts, parse
from paimonlab.sql_engine.value import Value
from paimonlab.table import changing
from paimonlab.table.changing.statement import RowCount
from paimonlab.table.inside import definition_of, writable
from paimonlab.table.partition_values import partition_values
from paimonlab.table.table import Table
from paimonlab.table.writing import partial_upserts
from paimonlab.write.expressions.sql import parse_expression

_VIEW_HINT = "Write WITH name AS (SELECT …) before the query, or CREATE TABLE db.t AS SELECT …"
_EVOLVES = "data-evolution.enabled"
_MOST_NAMES = 20
"""Of columns that a message lists."""
_WHAT = {exp.Insert: "INSERT", exp.Create: "CREATE", exp.Delete: "DELETE", exp.Update: "UPDATE"}


def run(
    text: str,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any] = (),
    options: EngineOptions | None = None,
    progress: Progress | None = None,
) -> Done:
    """Run a statement that writes, in one commit.

    Parameters
    ----------
    text
        In Spark's dialect; names with ``$`` are in back-quotes.
    sources
        What it may read, and where its table is.
    values
        Of its parameters.
    options
        How much its query may take.
    progress
        Called now and then; what it raises ends the statement, if it has not written yet.

    Returns
    -------
    Done
        What it did to the rows of its table.

    Raises
    ------
    NotTranslatedError
        If a part of it is not proven to do what Spark does; nothing is written then.
    UnsupportedError
        If it would start an ingest job.
    """
    if begins_ingest(tokenize(text)):
        word = text.split(maxsplit=2)[1].upper()
        raise UnsupportedError(
            f"CREATE {word} … AS {word} of a source here, since it starts an ingest job",
            "run it in a %%paimon cell or by paimonlab.sql; in a shell: paimonlab ingest",
        )
    if text.split(maxsplit=1)[0].upper() in ("CREATE", "ALTER"):
        refuse_habit(text, sources)
    with told_of_merges(text, sources), told_of_habits(text):
        return _run(parse(text), text, sources, values, options, progress)


def _run(
    tree: exp.Expression,
    text: str,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> Done:
    if isinstance(tree, exp.Insert):
        return _insert(tree, sources, values, options, progress)
    if isinstance(tree, exp.Merge):
        return merges.merge(tree, sources, values, options, progress)
    if isinstance(tree, exp.Create):
        return _create(tree, sources, values, options, progress)
    if isinstance(tree, exp.Delete):
        table, where = deleted_rows(tree, sources, values)
        counted = RowCount()
        made = changing.verbs.delete(*writable(table), where, progress=progress, counted=counted)
        return _done(table, made, counted.rows, "deleted")
    if isinstance(tree, exp.Update):
        return _update(tree, sources, values, progress)
    _define(tree, text, sources)
    return Done()


def _done(table: Table, snapshot: Snapshot | None, rows: int, verb: str) -> Done:
    """Say what a statement did to the rows of a table, and to how many."""
    if snapshot is None:
        return Done(f"{table.name}: no row was changed", 0)
    return Done(f"{table.name}: {many(rows, 'row')} {verb}, snapshot {snapshot.id}", rows)


def _define(tree: exp.Expression, text: str, sources: Sources) -> None:
    """Run a statement that says what there is, and reads no rows."""
    if isinstance(tree, exp.Drop):
        definitions.drop(tree, sources)
    elif isinstance(tree, exp.TruncateTable):
        definitions.truncate(tree, sources)
    elif isinstance(tree, exp.Alter):
        alterations.alter(tree, sources)
    elif isinstance(tree, exp.Comment):
        alterations.comment_on(tree, sources)
    elif isinstance(tree, exp.Command) and str(tree.this).upper() == "ALTER":
        alterations.alter_by_words(text, sources)
    else:
        word = text.split(maxsplit=1)[0].upper()
        tokens = tokenize(text)
        hint = guess(tokens, tokens[1].start) if len(tokens) > 1 else ""
        raise NotTranslatedError(word, word, hint)


def _target(node: exp.Expression, sources: Sources) -> tuple[Table, Relation]:
    """Return the table that a statement writes to, and its columns."""
    check_parts(node, "this", "db", "catalog")
    path = tuple(part.name for part in node.parts)  # type: ignore[attr-defined]
    table = sources.catalog.relation(sources.name_of(path))
    if not isinstance(table, Table):
        raise NotTranslatedError("writing to a system table", path[-1])
    given = Given(())
    return table, sources.table("r0", path, path, None, given)


@dataclass(frozen=True, slots=True)
class Inserted:
    """Rows that a statement writes."""

    table: Table
    rows: pa.Table
    """With all columns, as the table has them."""
    planned: Planned
    """The query of the rows."""
    is_overwrite: bool = False
    """Whether they take the place of all rows, or of those of a partition."""
    partition: Mapping[str, Any] = field(default_factory=dict)
    """The one that the statement names by values."""
    unnamed: Sequence[str] = ()
    """Columns that the statement leaves out, which are null."""


def _insert(
    tree: exp.Insert,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> Done:
    found = inserted_rows(tree, sources, values, options, progress)
    table, rows = found.table, found.rows
    is_overwrite = found.is_overwrite
    lost = ""
    if not is_overwrite:
        lost = partial_upserts.lost_values(definition_of(table), found.unnamed)
        if lost and table.snapshot is None:
            lost = ""
        made = table.write(rows)
    elif found.partition:
        made = table.overwrite(rows, partition=found.partition)
    else:
        made = table.overwrite(rows, dynamic=False)
    may_replace = is_overwrite or bool(table.primary_keys)
    done = _done(table, made, rows.num_rows, "written" if may_replace else "inserted")
    if not lost or made is None:
        return done
    return replace(done, said=f"{done.said}. The rows have no {lost}; UPDATE and MERGE keep them")


def inserted_rows(
    tree: exp.Insert,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> Inserted:
    """Compute the rows of an INSERT.

    Raises
    ------
    NotTranslatedError, SchemaError, ColumnNotFoundError
        As `run` does.
    """
    check_parts(tree, "this", "expression", "overwrite", "by_name")
    target, listed = tree.this, []
    if isinstance(target, exp.Schema):
        check_parts(target, "this", "expressions")
        target, listed = target.this, [one.name for one in target.expressions]
    partition_clause = target.args.get("partition")
    target.set("partition", None)
    table, _ = _target(target, sources)
    partition = partitions.values_of(partition_clause, table, Given(values))
    is_overwrite = bool(tree.args.get("overwrite"))
    if is_overwrite:
        partitions.check_replaced(table, partition)
    planned = engine.plan(tree.expression, sources, values)
    if tree.args.get("by_name"):
        if listed:
            raise NotTranslatedError("INSERT BY NAME with a list of columns", "NAME")
        listed = [name for name, _ in planned.columns]
    targets = _targets(table, listed, partition)
    if len(planned.columns) != len(targets):
        count = len(planned.columns)
        counts = f"{count} column{'' if count == 1 else 's'} for {len(targets)}"
        names = ", ".join(one.name for one in targets[:_MOST_NAMES])
        more = ", …" if len(targets) > _MOST_NAMES else ""
        advice = columns_advice(
            table.name,
            [name for name, _ in planned.columns],
            [one.name for one in targets],
            [one.name for one in targets if not one.type.nullable],
        )
        raise SchemaError(f"{table.name}: the query has {counts}: {names}{more}. {advice}")
    for (_, kind), one in zip(planned.columns, targets, strict=True):
        shown = f"{table.name}.{one.name}"
        check_stored(kind, kind_of(one.type), shown, is_converted=True)
    rows = engine.run(stored_query(planned, targets), options, progress)
    given = partition_values(partition, definition_of(table))
    named = {*given, *rows.schema.names}
    unnamed = [name for name in table.arrow_schema.names if name not in named]
    for column in table.arrow_schema:
        if column.name in given:
            values_of_it = pa.repeat(given[column.name], rows.num_rows)
            rows = rows.append_column(column, values_of_it.cast(column.type))
        elif column.name not in rows.schema.names:
            rows = rows.append_column(column, pa.nulls(rows.num_rows, column.type))
    rows = rows.select(table.arrow_schema.names)
    return Inserted(table, rows, planned, is_overwrite, partition, unnamed)


def deleted_rows(
    tree: exp.Delete, sources: Sources, values: Mapping[str, Any] | Sequence[Any]
) -> tuple[Table, Predicate | str]:
    """Return the table of a DELETE, and its condition.

    Raises
    ------
    NotTranslatedError
        If it is not proven to be what Spark does.
    """
    check_parts(tree, "this", "where")
    table, relation = _target(tree.this, sources)
    where = _condition(tree, table, relation, Given(values))
    return table, "true" if where is None else where


def _targets(table: Table, listed: Sequence[str], partition: Mapping[str, Any]) -> list[DataField]:
    """Return the columns that a query gives values; those that are left out become NULL."""
    for name in listed:
        if name.lower() in {one.lower() for one in partition}:
            raise SchemaError(f"{table.name}: PARTITION gives {name} a value, as the columns do")
    fields = {one.name.lower(): one for one in table.schema.fields if one.name not in partition}
    names = [name.lower() for name in listed] or list(fields)
    known = [one.name for one in table.schema.fields]
    for name in names:
        if name not in fields:
            raise ColumnNotFoundError(name, table.name, known)
    if len(set(names)) < len(names):
        raise SchemaError(f"{table.name}: INSERT names a column twice")
    for name, left in fields.items():
        if name not in names and left.default_value is not None:
            raise NotTranslatedError(f"INSERT without {left.name}, which has a default", "INSERT")
        if name not in names and not left.type.nullable:
            raise SchemaError(f"{table.name}: {left.name} is NOT NULL and gets no value")
    return [fields[name] for name in names]


def _create(
    tree: exp.Create,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> Done:
    if definitions.is_of_database(tree):
        definitions.create_database(tree, sources)
        return Done()
    if str(tree.kind).upper() == "TABLE" and tree.expression is None:
        definitions.create_table(tree, sources)
        return Done()
    if str(tree.kind).upper() == "VIEW":
        raise NotTranslatedError("CREATE VIEW", "VIEW", _VIEW_HINT)
    name, planned = created_table(tree, sources, values)
    told = definitions.told(tree, sources)
    rows = engine.run(planned, options, progress)
    table = sources.catalog.write_table(
        name,
        rows,
        partition_keys=told.partition_keys,
        options=told.options,
        comment=told.comment,
    )
    return _done(table, table.snapshot, rows.num_rows, "inserted") if rows.num_rows else Done()


def created_table(
    tree: exp.Create, sources: Sources, values: Mapping[str, Any] | Sequence[Any]
) -> tuple[str, Planned]:
    """Return the name of the table of CREATE TABLE … AS, and its query.

    Raises
    ------
    NotTranslatedError
        If it is not proven to do what Spark does.
    """
    check_parts(tree, "this", "kind", "expression", "properties")
    is_query = isinstance(tree.expression, exp.Query)
    if tree.kind != "TABLE" or not isinstance(tree.this, exp.Table) or not is_query:
        raise NotTranslatedError(f"CREATE {tree.kind} without a query", "CREATE")
    check_parts(tree.this, "this", "db", "catalog")
    name = sources.name_of(tuple(part.name for part in tree.this.parts))
    planned: Planned = engine.plan(tree.expression, sources, values)
    for column, kind in planned.columns:
        if kind == kinds.VOID:
            raise NotTranslatedError(f"the column {column} of NULL alone", "CREATE")
    return name, planned


def _update(
    tree: exp.Update,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    progress: Progress | None,
) -> Done:
    table, assignments, where = updated_rows(tree, sources, values)
    counted = RowCount()
    made = changing.verbs.update(
        *writable(table), assignments, where, progress=progress, counted=counted
    )
    return _done(table, made, counted.rows, "updated")


def updated_rows(
    tree: exp.Update, sources: Sources, values: Mapping[str, Any] | Sequence[Any]
) -> tuple[Table, dict[str, object], Predicate | str | None]:
    """Return the table of an UPDATE, its assignments and its condition.

    Raises
    ------
    NotTranslatedError
        If it is not proven to be what Spark does.
    """
    check_parts(tree, "this", "expressions", "where")
    table, relation = _target(tree.this, sources)
    given = Given(values)
    scope = Scope([relation])
    assignments: dict[str, object] = {}
    for one in tree.expressions:
        column = Translator(scope, given, _no_query, allows="none").value(one.this).column
        value = Translator(scope, given, _no_query, allows="none").value(one.expression)
        if column is None:
            raise NotTranslatedError(f"SET of the field {one.this.sql('spark')}", "SET")
        target = column[1]
        if not value.is_literal:
            assignments[target.name] = _computed(one.expression, value, target, table, relation)
            continue
        assignments[target.name] = constant_value(value, target.kind, target.name)
    return table, assignments, _condition(tree, table, relation, given)


def _computed(
    node: exp.Expression, value: Value, target: SqlColumn, table: Table, relation: Relation
) -> str:
    """Write a new value as `Table.update` takes it, which computes it as Spark does."""
    check_stored(value.kind, target.kind, target.name)
    if node.find(exp.Placeholder) is not None:
        raise NotTranslatedError(f"SET {target.name} to such a value", target.name)
    return _for_table(node, table, relation)


def _for_table(node: exp.Expression, table: Table, relation: Relation) -> str:
    """Write an expression over the columns of a table as its verbs take it."""

    def renamed(part: exp.Expression) -> exp.Expression:
        if not isinstance(part, exp.Column):
            return part
        *path, name = (one.name for one in part.parts)
        found = Scope([relation]).found(path, name)
        if found is None:
            raise NotTranslatedError(f"the field {part.sql('spark')}", part.name)
        return exp.column(found.column[1].name, quoted=True)

    text: str = node.copy().transform(renamed).sql("spark")
    try:
        parse_expression(text, table.arrow_schema, table.name)
    except UnsupportedError as error:
        raise NotTranslatedError(error.feature, text) from error
    return text


def _no_query(_node: exp.Expression, _scope: Scope) -> Any:
    raise NotTranslatedError("a query in UPDATE or DELETE", "SELECT")


def _condition(
    tree: exp.Expression, table: Table, relation: Relation, given: Given
) -> Predicate | str | None:
    """Return the whole condition as a scan evaluates it; None if there is none."""
    where = tree.args.get("where")
    if where is None:
        return None
    scope = Scope([relation])
    if found := pushing.whole(where.this, scope, given):
        return all_of(*found)
    if where.this.find(exp.Placeholder) is not None:
        raise NotTranslatedError(f"such a condition of {_WHAT[type(tree)]}", "WHERE")
    condition = Translator(scope, given, _no_query, allows="none").value(where.this)
    if condition.kind != kinds.BOOLEAN:
        raise NotTranslatedError("a condition that is no truth value", "WHERE")
    if table.schema.options.get(_EVOLVES, "").lower() == "true":
        raise NotTranslatedError(f"such a condition with {_EVOLVES}", "WHERE")
    return _for_table(where.this, table, relation)
