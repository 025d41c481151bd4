"""Statements that write: INSERT, CREATE TABLE … AS, DELETE, UPDATE, by the verbs of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from paimonlab.errors import SchemaError
from paimonlab.progress import Progress
from paimonlab.spec.predicates.predicate import Predicate, all_of
from paimonlab.spec.types.data_types import DataField
from paimonlab.sql_engine import engine, kinds, pushing
from paimonlab.sql_engine.engine import EngineOptions, Planned
from paimonlab.sql_engine.expressions import Given, Translator
from paimonlab.sql_engine.kinds import Kind, duck_type, kind_of, shape, spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Relation, Scope
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import check_parts, parse
from paimonlab.table.table import Table

WRITING = frozenset({"INSERT", "CREATE", "DELETE", "UPDATE"})
"""First words of statements that write."""
_WHAT = {exp.Insert: "INSERT", exp.Create: "CREATE", exp.Delete: "DELETE", exp.Update: "UPDATE"}


def run(
    text: str,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any] = (),
    options: EngineOptions | None = None,
    progress: Progress | None = None,
) -> None:
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

    Raises
    ------
    NotTranslatedError
        If a part of it is not proven to do what Spark does; nothing is written then.
    """
    tree = parse(text)
    if isinstance(tree, exp.Insert):
        _insert(tree, sources, values, options, progress)
    elif isinstance(tree, exp.Create):
        _create(tree, sources, values, options, progress)
    elif isinstance(tree, exp.Delete):
        check_parts(tree, "this", "where")
        table, relation = _target(tree.this, sources)
        where = _condition(tree, relation, Given(values))
        if where is None:
            raise NotTranslatedError("DELETE without WHERE", "DELETE")
        table.delete(where, progress=progress)
    elif isinstance(tree, exp.Update):
        _update(tree, sources, values, progress)
    else:
        word = text.split(maxsplit=1)[0].upper()
        raise NotTranslatedError(word, word)


def _target(node: exp.Expression, sources: Sources) -> tuple[Table, Relation]:
    """Return the table that a statement writes to, and its columns."""
    check_parts(node, "this", "db", "catalog")
    path = tuple(part.name for part in node.parts)  # type: ignore[attr-defined]
    table = sources.catalog.table(sources.name_of(path))
    if not isinstance(table, Table):
        raise NotTranslatedError("writing to a system table", path[-1])
    given = Given(())
    return table, sources.table("r0", path, path, None, given)


def _insert(
    tree: exp.Insert,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> None:
    check_parts(tree, "this", "expression")
    target, listed = tree.this, []
    if isinstance(target, exp.Schema):
        check_parts(target, "this", "expressions")
        target, listed = target.this, [one.name for one in target.expressions]
    table, _ = _target(target, sources)
    fields = {field.name.lower(): field for field in table.schema.fields}
    names = [name.lower() for name in listed] or list(fields)
    if sorted(names) != sorted(fields):
        raise NotTranslatedError("INSERT into some of the columns", "INSERT")
    planned = engine.plan(tree.expression, sources, values)
    if len(planned.columns) != len(names):
        counts = f"{len(planned.columns)} columns for {len(names)}"
        raise SchemaError(f"{table.name}: the query has {counts}")
    schema = table.arrow_schema
    targets = [fields[name] for name in names]
    for (_, kind), field in zip(planned.columns, targets, strict=True):
        _check_stored(kind, kind_of(field.type), f"{table.name}.{field.name}")
    rows = engine.run(_stored(planned, targets), options, progress)
    table.write(rows.select(schema.names))


def _check_stored(kind: Kind, target: Kind | None, column: str) -> None:
    """Refuse what Spark stores only after a conversion that is not proven."""
    is_stored = target is not None and (
        kind in (target, kinds.VOID)
        or (kinds.is_whole(kind) and kinds.is_whole(target))
        or _is_exact(kind, target)
        or (kinds.is_numeric(kind) and target == kinds.common(kind, target) == kinds.DOUBLE)
    )
    if not is_stored:
        shown = "its type" if target is None else spark_type(target)
        raise NotTranslatedError(f"INSERT of {spark_type(kind)} into {column}, {shown},", "INSERT")


def _is_exact(kind: Kind, target: Kind) -> bool:
    """Tell whether each number becomes a decimal of the same value, or is refused."""
    has_digits = kinds.is_whole(kind) or kinds.is_decimal(kind)
    return has_digits and kinds.is_decimal(target) and shape(kind)[1] <= shape(target)[1]


def _stored(planned: Planned, targets: Sequence[DataField]) -> Planned:
    """Return the query with the names and types of the columns that get its rows."""
    outputs, columns = [], []
    for number, ((_, kind), field) in enumerate(zip(planned.columns, targets, strict=True)):
        stored = kind_of(field.type)
        assert stored is not None, "what is stored has a type"
        is_same = kind == stored or not kinds.is_atomic(stored)
        outputs.append(f"o{number}" if is_same else f"CAST(o{number} AS {duck_type(stored)})")
        columns.append((field.name, stored))
    names = ", ".join(f"o{number}" for number in range(len(targets)))
    text = f"SELECT {', '.join(outputs)} FROM ({planned.text}) AS q({names})"
    return Planned(text, columns, planned.parts)


def _create(
    tree: exp.Create,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> None:
    check_parts(tree, "this", "kind", "expression", "properties")
    properties = tree.args.get("properties")
    for one in properties.expressions if properties is not None else ():
        is_paimon = isinstance(one, exp.FileFormatProperty) and one.name.lower() == "paimon"
        if not is_paimon:
            raise NotTranslatedError(f"{one.key.upper()} of CREATE TABLE", "CREATE")
    is_query = isinstance(tree.expression, exp.Query)
    if tree.kind != "TABLE" or not isinstance(tree.this, exp.Table) or not is_query:
        raise NotTranslatedError(f"CREATE {tree.kind} without a query", "CREATE")
    check_parts(tree.this, "this", "db", "catalog")
    name = sources.name_of(tuple(part.name for part in tree.this.parts))
    planned: Planned = engine.plan(tree.expression, sources, values)
    for column, kind in planned.columns:
        if kind == kinds.VOID:
            raise NotTranslatedError(f"the column {column} of NULL alone", "CREATE")
    sources.catalog.write_table(name, engine.run(planned, options, progress))


def _update(
    tree: exp.Update,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    progress: Progress | None,
) -> None:
    check_parts(tree, "this", "expressions", "where")
    table, relation = _target(tree.this, sources)
    given = Given(values)
    scope = Scope([relation])
    assignments: dict[str, object] = {}
    for one in tree.expressions:
        column = Translator(scope, given, _no_query, allows="none").value(one.this).column
        value = Translator(scope, given, _no_query, allows="none").value(one.expression)
        target = column[1]
        constant = pushing.constant(value, target.kind)
        if constant is None or (isinstance(constant, str) and set(constant) & set("\\'")):
            raise NotTranslatedError(f"SET {target.name} to such a value", target.name)
        is_text = isinstance(constant, str)
        assignments[target.name] = f"'{constant}'" if is_text else constant
    where = _condition(tree, relation, given)
    table.update(assignments, where=where, progress=progress)


def _no_query(_node: exp.Expression, _scope: Scope) -> Any:
    raise NotTranslatedError("a query in SET", "SELECT")


def _condition(tree: exp.Expression, relation: Relation, given: Given) -> Predicate | None:
    """Return the whole condition as a scan evaluates it; None if there is none."""
    where = tree.args.get("where")
    if where is None:
        return None
    found = pushing.whole(where.this, Scope([relation]), given)
    if found is None:
        raise NotTranslatedError(f"such a condition of {_WHAT[type(tree)]}", "WHERE")
    return all_of(*found)
