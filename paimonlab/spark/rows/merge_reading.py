"""What a MERGE says, read as what tasks evaluate.

Expressions over both sides, or over the target, are those that `expression_trees` knows. What Spark
alone can evaluate has to be over the source: it becomes a column of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.expressions import named_column
from paimonlab.spark.rows.catalyst_trees import trees_of
from paimonlab.spark.rows.executor_merges import ClauseTrees, RowMerge
from paimonlab.spark.rows.expression_trees import COLUMN, Columns, Tree, arrow_type, bare, bound
from paimonlab.spark.rows.joining import frame_of, is_hashed, is_over, parts_of
from paimonlab.spark.rows.statements import RowStatement, SparkClause, as_list
from paimonlab.spark.rows.tree_pruning import pruning
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.write.merge_clauses import Action

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.table.reading.scan import Scan

OURS = "__paimon_"
"""Begins the names of columns that no target may have then."""


@dataclass(frozen=True, slots=True)
class MergeReading:
    """What a MERGE says."""

    merge: RowMerge
    source: DataFrame
    """The columns of the source that the merge looks at."""
    names: Mapping[str, str]
    """The columns of the target that are keys themselves, by the columns of the source that they
    equal."""
    known: Sequence[Predicate]
    """What all target rows satisfy that belong to a source row, besides; not bound."""


def read_merge(bridge: Bridge, statement: RowStatement, scan: Scan) -> MergeReading | None:
    """Read a statement; None: Spark has to evaluate something of it over both sides.

    Parameters
    ----------
    bridge
        The session.
    statement
        A MERGE whose target has no columns that begin with `OURS`.
    scan
        The target.
    """
    keys, rest = _condition(statement)
    if not keys:
        return None
    try:
        return _read(bridge, statement, scan, keys, rest)
    except UnsupportedError:
        return None


def _condition(statement: RowStatement) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Return what of the target equals what of the source, and what else the condition says."""
    assert statement.source is not None, "a MERGE has a source"
    target, source = statement.target.outputSet(), statement.source.outputSet()
    keys, rest = [], []
    for part in parts_of(statement.condition):
        pair = None
        if part.getClass().getSimpleName() == "EqualTo":
            sides = (part.left(), part.right())
            for one, other in (sides, sides[::-1]):
                if is_over(one, target) and is_over(other, source) and is_hashed(one, other):
                    pair = (one, other)
        if pair is None:
            rest.append(part)
        else:
            keys.append(pair)
    return keys, rest


@dataclass(slots=True)
class _Known:
    """The columns that tasks will have."""

    statement: RowStatement
    columns: Columns
    source_types: Mapping[str, str]
    """Of the source, by id: types as Spark writes them."""
    made: dict[str, Any] = field(default_factory=dict)
    """What Spark evaluates over the source, by the columns that it becomes."""
    made_schema: list[pa.Field] = field(default_factory=list)

    def condition(self, expression: Any, tree: Tree) -> Tree:
        """Return a condition as tasks evaluate it.

        Raises
        ------
        UnsupportedError
            If Spark has to, and it is not over the source alone.
        """
        try:
            bound(tree, self.columns)
        except UnsupportedError:
            return Tree(COLUMN, tree.type, self._made_of(expression, tree))
        return tree

    def value(self, expression: Any, tree: Tree, own: Tree, kind: pa.DataType) -> Tree | str:
        """Return a new value; see `ClauseTrees.values` and `condition`.

        Parameters
        ----------
        expression, tree
            The value.
        own
            The column that gets it, as Spark knows it.
        kind
            Its type in Arrow.
        """
        if tree.kind == COLUMN and self.source_types.get(str(tree.detail)) == own.type:
            return self.columns.names[str(tree.detail)]
        try:
            if bound(tree, self.columns).type == kind:
                return tree
        except UnsupportedError:
            pass
        return self._made_of(expression, tree)

    def _made_of(self, expression: Any, tree: Tree) -> str:
        source = self.statement.source
        assert source is not None, "a MERGE has a source"
        if not expression.references().subsetOf(source.outputSet()):
            raise UnsupportedError(f"{tree.kind} over both sides", "Spark evaluates it")
        name = f"{OURS}made_{len(self.made)}"
        self.made[name] = expression
        self.made_schema.append(pa.field(name, _type_of(tree)))
        return name

    @property
    def all_columns(self) -> Columns:
        """Return the columns, with those that Spark makes."""
        names = dict(self.columns.names) | {name: name for name in self.made}
        schema = pa.schema([*self.columns.schema, *self.made_schema])
        return Columns(names, schema, self.columns.table)


def _read(
    bridge: Bridge,
    statement: RowStatement,
    scan: Scan,
    pairs: Sequence[tuple[Any, Any]],
    rest: Sequence[Any],
) -> MergeReading:
    assert statement.source is not None, "a MERGE has a source"
    schema = scan.schema.arrow_schema
    target = as_list(bridge, statement.target.output())
    said = [one for clause in statement.clauses for one in clause.expressions]
    source = as_list(bridge, statement.source.output())
    keys = [key for key, _ in pairs]
    trees = iter(trees_of(bridge, [*target, *source, *keys, *rest, *said]))
    own, others = list(islice(trees, len(target))), list(islice(trees, len(source)))
    ids = {str(tree.detail): name for tree, name in zip(own, schema.names, strict=True)}
    added = {f"{OURS}source_{at}": tree for at, tree in enumerate(others)}
    types = [pa.field(name, _type_of(tree)) for name, tree in added.items()]
    known = _Known(
        statement,
        Columns(
            ids | {str(tree.detail): name for name, tree in added.items()},
            pa.schema([*schema, *types]),
            scan.definition.name,
        ),
        {str(tree.detail): tree.type for tree in others},
    )
    named = {f"{OURS}key_{at}": next(trees) for at in range(len(keys))}
    for tree in named.values():
        bound(tree, known.columns)
    conditions = [known.condition(part, next(trees)) for part in rest]
    clauses = [_clause(clause, trees, own, schema, known) for clause in statement.clauses]
    of_target = Columns(ids, schema, scan.definition.name)
    ruled = [_ruled(tree, of_target) for tree in conditions]
    merge = RowMerge(
        named,
        reduce(_both, conditions) if conditions else None,
        clauses,
        known.all_columns,
        frozenset(schema.names),
    )
    used = merge.source_columns
    columns = [
        *((name, value) for name, (_, value) in zip(named, pairs, strict=True)),
        *((name, one) for name, one in zip(added, source, strict=True) if name in used),
        *known.made.items(),
    ]
    frame = frame_of(bridge, statement.source).select(
        *(named_column(bridge, expression, name) for name, expression in columns)
    )
    return MergeReading(
        merge, frame, _own_names(named, ids), [one for one in ruled if one is not None]
    )


def _own_names(keys: Mapping[str, Tree], ids: Mapping[str, str]) -> dict[str, str]:
    """Return which columns of the target are keys, each once, by the columns that they equal."""
    columns = {ids[str(tree.detail)]: name for name, tree in keys.items() if tree.kind == COLUMN}
    return {name: column for column, name in columns.items()}


def _clause(
    clause: SparkClause,
    trees: Iterator[Tree],
    own: Sequence[Tree],
    schema: pa.Schema,
    known: _Known,
) -> ClauseTrees:
    condition = None
    if clause.condition is not None:
        condition = known.condition(clause.condition, next(trees))
    is_update = clause.rule.action is Action.UPDATE
    values: dict[str, Tree | str] = {}
    for expression, column, one in zip(clause.values, schema, own, strict=False):
        tree = bare(next(trees))
        if not (is_update and tree == one):
            values[column.name] = known.value(expression, tree, one, column.type)
    return ClauseTrees(clause.rule, condition, values)


def _type_of(tree: Tree) -> pa.DataType:
    """Return the type of values; of those that tasks only hand on it does not matter."""
    try:
        return arrow_type(tree.type)
    except UnsupportedError:
        return pa.null()


def _both(left: Tree, right: Tree) -> Tree:
    return Tree("And", "boolean", None, (left, right))


def _ruled(tree: Tree, target: Columns) -> Predicate | None:
    """Return what a condition says of target rows alone."""
    try:
        return pruning(tree, target)
    except UnsupportedError:  # it looks at columns of the source
        return None
