"""MERGE, by `Table.merge`: DuckDB computes the source, and what looks at it alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from paimonlab.errors import ColumnNotFoundError, SchemaError, UnsupportedError
from paimonlab.progress import Progress
from paimonlab.spec.predicates.predicate import col
from paimonlab.spec.types.data_types import DataField
from paimonlab.sql_engine import engine, kinds
from paimonlab.sql_engine.done import Done
from paimonlab.sql_engine.engine import EngineOptions, Planned
from paimonlab.sql_engine.expressions import Translator
from paimonlab.sql_engine.given import Given
from paimonlab.sql_engine.kinds import Kind, duck_type, kind_of
from paimonlab.sql_engine.queries import QueryTranslator
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Relation, Scope
from paimonlab.sql_engine.storing import check_stored, constant_value
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import Value
from paimonlab.table.changing.merge import Merge
from paimonlab.table.table import Table

_BOTH = {"t", "s"}
"""Rows of the table, rows of the source."""


def merge(
    tree: exp.Merge,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> Done:
    """Run MERGE INTO in one commit; say how many rows it inserted, updated and deleted.

    Raises
    ------
    NotTranslatedError
        If a part of it is not proven to do what Spark does; nothing is written then.
    """
    merging, _ = bound_merge(tree, sources, values, options, progress)
    try:
        done = merging.execute(progress=progress)
    except UnsupportedError as error:  # Spark may do it
        raise NotTranslatedError(error.feature, "MERGE") from error
    name = sources.name_of(tuple(part.name for part in tree.this.parts))
    if done.snapshot is None:
        return Done(f"{name}: no row was changed", 0)
    counts = (
        f"{done.rows_inserted:,} inserted, {done.rows_updated:,} updated, "
        f"{done.rows_deleted:,} deleted"
    )
    changed = done.rows_inserted + done.rows_updated + done.rows_deleted
    return Done(f"{name}: {counts}, snapshot {done.snapshot.id}", changed)


def bound_merge(
    tree: exp.Merge,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> tuple[Merge, Planned]:
    """Return a merge with its clauses, and the query of its source, which was run.

    Raises
    ------
    NotTranslatedError
        As `merge` does.
    """
    check_parts(tree, "this", "using", "on", "whens")
    target = tree.this
    check_parts(target, "this", "db", "catalog", "alias")
    path = tuple(part.name for part in target.parts)
    table = sources.catalog.relation(sources.name_of(path))
    if not isinstance(table, Table):
        raise NotTranslatedError("writing to a system table", path[-1])
    given = Given(values)
    names = (target.alias,) if target.alias else path
    relation = sources.table("target", path, names, None, given)
    source = _Source.of(tree.args["using"], sources, given)
    binding = _Binding(table, relation, source, given)
    on = binding.join(tree.args["on"])
    clauses = [binding.clause(when) for when in tree.args["whens"].expressions]
    planned = source.planned(sources)
    merging = table.merge(engine.run(planned, options, progress), on)
    for add in clauses:
        merging = add(merging)
    return merging, planned


@dataclass(slots=True)
class _Source:
    """The source, and the columns that are computed of it."""

    text: str
    relation: Relation
    columns: list[tuple[str, str, Kind]] = field(default_factory=list)
    """Names, DuckDB's SQL and types."""

    @classmethod
    def of(cls, node: exp.Expression, sources: Sources, given: Given) -> _Source:
        queries = QueryTranslator(sources, given)
        made = queries.query(exp.select("*").from_(node.copy()))
        parts = [part.name for part in node.parts] if isinstance(node, exp.Table) else []
        names = (node.alias,) if node.alias else tuple(parts)
        return cls(*queries.relation(made, names))

    def add(self, text: str, kind: Kind) -> str:
        """Compute one more column; return its name."""
        for name, known, known_kind in self.columns:
            if (known, known_kind) == (text, kind):
                return name
        self.columns.append((f"x{len(self.columns)}", text, kind))
        return self.columns[-1][0]

    def planned(self, sources: Sources) -> Planned:
        """Return the query of all columns."""
        if not self.columns:
            self.add("true", kinds.BOOLEAN)
        outputs = ", ".join(text for _, text, _ in self.columns)
        text, parts = sources.planned(f"SELECT {outputs} FROM {self.text}")
        columns = [(name, kind) for name, _, kind in self.columns]
        shown, sql = tuple(sources.shown), sources.named_text
        return Planned(text, columns, parts, tables=shown, sql=sql)


@dataclass(slots=True)
class _Binding:
    """Writes the parts of a merge as `Table.merge` takes them."""

    table: Table
    target: Relation
    source: _Source
    given: Given
    joined: set[tuple[str, str]] = field(default_factory=set)
    """Columns of the table, and the source columns that they are equal to."""

    def join(self, node: exp.Expression) -> str:
        """Write the condition when rows belong together."""
        parts = [node]
        found: list[str] = []
        while parts:
            part = parts.pop()
            if isinstance(part, exp.Paren):
                parts.append(part.this)
            elif isinstance(part, exp.And):
                parts += [part.expression, part.this]
            else:
                found.append(self._equal(part))
        return " AND ".join(found)

    def _equal(self, node: exp.Expression) -> str:
        if not isinstance(node, exp.EQ):
            raise NotTranslatedError("ON of more than columns that are equal", "ON")
        check_parts(node, "this", "expression")
        sides = [self._sides(side, _BOTH) for side in (node.this, node.expression)]
        translator = self._translator(_BOTH)
        left, right = translator.value(node.this), translator.value(node.expression)
        if sides == [{"s"}, {"t"}]:
            left, right = right, left
        elif sides != [{"t"}, {"s"}]:
            raise NotTranslatedError("ON of more than columns that are equal", "ON")
        is_same = left.kind == right.kind and left.kind not in (kinds.FLOAT, kinds.DOUBLE)
        is_whole = kinds.is_whole(left.kind) and kinds.is_whole(right.kind)
        if left.column is None or not (is_same or is_whole):
            raise NotTranslatedError("ON of such an equality", "ON")
        column = left.column[1].name
        name = self.source.add(right.text, right.kind)
        if right.column is not None:
            self.joined.add((column, right.text))
        return f"t.{_name(column)} = s.{name}"

    def clause(self, when: exp.When) -> _Clause:
        """Write one WHEN."""
        check_parts(when, "matched", "source", "condition", "then")
        seen = _BOTH if when.args["matched"] else {"t"} if when.args["source"] else {"s"}
        condition = when.args.get("condition")
        where = None if condition is None else self._where(condition, seen)
        then = when.args["then"]
        is_of_source = seen == {"t"}
        if isinstance(then, exp.Var) and then.name.upper() == "DELETE" and "t" in seen:
            return _Clause("delete", None, where, is_of_source)
        if isinstance(then, exp.Update) and "t" in seen:
            check_parts(then, "expressions")
            return _Clause("update", self._assigned(then.expressions, seen), where, is_of_source)
        if isinstance(then, exp.Insert) and seen == {"s"}:
            check_parts(then, "this", "expression")
            return _Clause("insert", self._inserted(then, seen), where, is_of_source)
        raise NotTranslatedError("such a clause of MERGE", "WHEN")

    def _assigned(self, given: Sequence[exp.Expression], seen: set[str]) -> dict[str, object]:
        if len(given) == 1 and isinstance(given[0], exp.Star):
            if seen == {"t"}:
                raise NotTranslatedError("UPDATE SET * without a source row", "*")
            return self._all(is_update=True)
        values: dict[str, object] = {}
        for one in given:
            if not isinstance(one, exp.EQ):
                raise NotTranslatedError("such an assignment", "SET")
            target = self._target_of(one.this)
            if target.name in values:
                raise SchemaError(f"{self.table.name}: {target.name} is set twice")
            new = self._new(one.expression, target, seen, is_update=True)
            if new is not None:
                values[target.name] = new
        return values

    def _inserted(self, then: exp.Insert, seen: set[str]) -> dict[str, object]:
        if isinstance(then.this, exp.Star):
            return self._all(is_update=False)
        if not isinstance(then.this, exp.Tuple) or not isinstance(then.expression, exp.Tuple):
            raise NotTranslatedError("INSERT without names of columns", "INSERT")
        targets = [self._target_of(one) for one in then.this.expressions]
        if len(targets) != len(then.expression.expressions):
            raise SchemaError(f"{self.table.name}: {len(targets)} columns for other values")
        if any(field.default_value for field in self.table.schema.fields):
            raise NotTranslatedError("INSERT into a table with defaults", "INSERT")
        new = [
            self._new(value, target, seen, is_update=False)
            for value, target in zip(then.expression.expressions, targets, strict=True)
        ]
        return {target.name: value for target, value in zip(targets, new, strict=True)}

    def _all(self, *, is_update: bool) -> dict[str, object]:
        values: dict[str, object] = {}
        scope = Scope([self.source.relation])
        for target in self.table.schema.fields:
            value = scope.found((), target.name)
            if value is None:
                known = [column.name for column in self.source.relation.columns]
                raise ColumnNotFoundError(target.name, "the source", known)
            new = self._stored(value, target, is_update=is_update)
            if new is not None:
                values[target.name] = new
        return values

    def _new(
        self, node: exp.Expression, target: DataField, seen: set[str], *, is_update: bool
    ) -> object:
        """Return what `Merge` takes for a column; None: it has this value already."""
        value = self._translator(seen).value(node)
        if value.is_literal and "s" not in seen:
            return constant_value(value, kind_of(target.type), target.name)
        if "t" not in self._sides(node, seen) and "s" in seen:
            return self._stored(value, target, is_update=is_update)
        check_stored(value.kind, kind_of(target.type), f"{self.table.name}.{target.name}")
        return self._text(node, seen)

    def _stored(self, value: Value, target: DataField, *, is_update: bool) -> object:
        if is_update and (target.name, value.text) in self.joined:
            return None
        stored = kind_of(target.type)
        column = f"{self.table.name}.{target.name}"
        check_stored(value.kind, stored, column, is_converted=True)
        assert stored is not None, "what is stored has a type"
        if not kinds.is_atomic(stored):
            raise NotTranslatedError(f"MERGE of {target.name}", target.name)
        text = value.text
        if value.kind != stored:
            text = f"CAST({text} AS {duck_type(stored)})"
        return col(f"s.{self.source.add(text, stored)}")

    def _where(self, node: exp.Expression, seen: set[str]) -> str:
        value = self._translator(seen).truth(node, "WHEN")
        if "s" not in seen or "t" in self._sides(node, seen):
            return self._text(node, seen)
        return f"s.{self.source.add(value.text, kinds.BOOLEAN)}"

    def _text(self, node: exp.Expression, seen: set[str]) -> str:
        """Write an expression of both rows for `Merge`, which computes it as Spark does."""
        if node.find(exp.Placeholder) is not None:
            raise NotTranslatedError("parameters beside columns of the table in MERGE", "MERGE")

        def renamed(part: exp.Expression) -> exp.Expression:
            if not isinstance(part, exp.Column):
                return part
            side = self._side(part, seen)
            value = self._translator(seen).value(part)
            if side == "t":
                if value.column is None:
                    raise NotTranslatedError(f"{part.sql('spark')} in MERGE", part.name)
                return exp.column(value.column[1].name, "t", quoted=True)
            return exp.column(self.source.add(value.text, value.kind), "s", quoted=True)

        return node.copy().transform(renamed).sql("spark")

    def _target_of(self, node: exp.Expression) -> DataField:
        if not isinstance(node, exp.Column):
            raise NotTranslatedError("such an assignment", "SET")
        *path, name = (part.name for part in node.parts)
        found = Scope([self.target]).find(path, name)
        return self.table.schema.field(found.column[1].name)

    def _translator(self, seen: set[str]) -> Translator:
        return Translator(self._scope(seen), self.given, _no_query, allows="none")

    def _scope(self, seen: set[str]) -> Scope:
        both = {"t": self.target, "s": self.source.relation}
        return Scope([both[side] for side in sorted(seen)])

    def _side(self, node: exp.Column, seen: set[str]) -> str:
        """Return which row has a column, or the column that a field is of."""
        scope, parts = self._scope(seen), [part.name for part in node.parts]
        for end in range(len(parts), 0, -1):
            value = scope.found(parts[: end - 1], parts[end - 1])
            if value is not None:
                return "t" if value.column[0] is self.target else "s"
        *path, name = parts
        value = scope.find(path, name)
        return "t" if value.column[0] is self.target else "s"

    def _sides(self, node: exp.Expression, seen: set[str]) -> set[str]:
        """Return which rows an expression looks at."""
        return {self._side(column, seen) for column in node.find_all(exp.Column)}


@dataclass(frozen=True, slots=True)
class _Clause:
    """One WHEN, for `Merge`."""

    action: str
    values: dict[str, object] | None
    where: str | None
    is_by_source: bool

    def __call__(self, merging: Merge) -> Merge:
        if self.action == "insert":
            return merging.when_not_matched_insert(self.values, where=self.where)
        if self.action == "delete" and self.is_by_source:
            return merging.when_not_matched_by_source_delete(where=self.where)
        if self.action == "delete":
            return merging.when_matched_delete(where=self.where)
        if self.is_by_source:
            return merging.when_not_matched_by_source_update(self.values or {}, where=self.where)
        return merging.when_matched_update(self.values, where=self.where)


def _name(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _no_query(_node: exp.Expression, _scope: Scope) -> Any:
    raise NotTranslatedError("a query within MERGE", "SELECT")
