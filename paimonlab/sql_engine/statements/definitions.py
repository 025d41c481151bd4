"""Statements that define: CREATE, DROP and TRUNCATE of tables, CREATE and DROP of databases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from paimonlab.errors import AlreadyExistsError, SchemaError, UnsupportedError
from paimonlab.secrets import hides_secrets
from paimonlab.spec.external_paths import NO_PLACES
from paimonlab.spec.schema.definition import Schema
from paimonlab.spec.schema.transforms import instead_of
from paimonlab.spec.types.data_types import DataField
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.statements.columns import column_of, fixed_text
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import check_parts

_DATABASES = frozenset({"DATABASE", "SCHEMA", "NAMESPACE"})
_NO_OPTION = {"location": "LOCATION", "external": "CREATE EXTERNAL TABLE", "path": "a table path"}
"""Properties that say where a table is."""
_COMMENT = "comment"


def create_table(tree: exp.Create, sources: Sources) -> None:
    """Run CREATE TABLE with columns.

    Raises
    ------
    NotTranslatedError
        If a part of it is not proven to make the table that Spark makes.
    """
    check_parts(tree, "this", "kind", "exists", "properties")
    columns = tree.this
    if not isinstance(columns, exp.Schema):
        raise NotTranslatedError("CREATE TABLE without columns and without a query", "CREATE")
    check_parts(columns, "this", "expressions")
    made = Definition(takes_places=sources.catalog.takes_places)
    for one in columns.expressions:
        made.add(one)
    made.tell_all(tree)
    definition = Schema(
        fields=tuple(made.fields),
        partition_keys=tuple(made.partition_keys),
        primary_keys=tuple(made.primary_keys),
        options=made.options,
        comment=made.comment,
    )
    name = table_name(columns.this, sources)
    try:
        sources.catalog.create_table(name, definition, exist_ok=bool(tree.args.get("exists")))
    except AlreadyExistsError as error:
        error.hint = "CREATE TABLE IF NOT EXISTS leaves it as it is"
        raise


def told(tree: exp.Create, sources: Sources) -> Definition:
    """Return what CREATE TABLE … AS says but for its query.

    Raises
    ------
    NotTranslatedError
        If a part of it is not proven to make the table that Spark makes.
    """
    made = Definition(takes_places=sources.catalog.takes_places)
    made.tell_all(tree)
    if made.fields:
        raise NotTranslatedError("partition columns with types beside a query", "PARTITIONED")
    return made


@hides_secrets
@dataclass(slots=True)
class Definition:
    """What CREATE TABLE says, part by part."""

    takes_places: bool
    fields: list[DataField] = field(default_factory=list)
    primary_keys: list[str] = field(default_factory=list)
    partition_keys: list[str] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    comment: str | None = None

    def add(self, node: exp.Expression) -> None:
        """Take a column, or a constraint of the table."""
        if isinstance(node, exp.PrimaryKey):
            if self.primary_keys:
                raise SchemaError("there are two primary keys")
            # What follows it (NOT ENFORCED) changes nothing: keys are merged.
            self.primary_keys = [_column_name(one) for one in node.expressions]
            return
        if not isinstance(node, exp.ColumnDef):
            raise UnsupportedError(
                f"the constraint {node.sql('spark')}", "a Paimon table has PRIMARY KEY (…) only"
            )
        column, is_key = column_of(node, len(self.fields))
        if any(known.name.lower() == column.name.lower() for known in self.fields):
            raise SchemaError(f"the column {column.name} is defined twice")
        self.fields.append(column)
        if is_key:
            self.primary_keys.append(column.name)

    def tell_all(self, tree: exp.Create) -> None:
        """Take all that follows the columns, or the name."""
        properties = tree.args.get("properties")
        for one in properties.expressions if properties is not None else ():
            self.tell(one)

    def tell(self, node: exp.Expression) -> None:
        """Take what follows the columns."""
        if isinstance(node, exp.FileFormatProperty):
            if node.name.lower() != "paimon":
                advice = "this catalog has Paimon tables only; write USING paimon, or leave it out"
                raise UnsupportedError(f"USING {node.name}", advice)
        elif isinstance(node, exp.PartitionedByProperty):
            self._partition(node.this)
        elif isinstance(node, exp.SchemaCommentProperty):
            self.comment = fixed_text(node.this)
        elif isinstance(node, exp.LocationProperty):
            if self.takes_places:
                raise NotTranslatedError("LOCATION")
            raise UnsupportedError("LOCATION", NO_PLACES)
        elif type(node) is exp.Property:
            ((key, value),) = properties_of([node])
            if key == _COMMENT:
                self.comment = value
            else:
                self.options[key] = value
        else:
            raise NotTranslatedError(f"{node.key.upper()} of CREATE TABLE", "CREATE")

    def _partition(self, node: exp.Expression) -> None:
        for one in node.expressions:
            if isinstance(one, exp.ColumnDef):
                self.add(one)
            elif advice := instead_of(one.sql("spark").lower()):
                raise SchemaError(f"partition key {one.sql('spark')} is not a column. {advice}")
            self.partition_keys.append(_column_name(one))


def properties_of(nodes: list[exp.Property]) -> Iterator[tuple[str, str]]:
    """Return the keys and values of TBLPROPERTIES.

    Raises
    ------
    UnsupportedError
        If one says where a table is.
    """
    for one in nodes:
        key = one.this.name if isinstance(one.this, exp.Literal) else one.this.sql("spark")
        if key in _NO_OPTION:
            raise UnsupportedError(_NO_OPTION[key], NO_PLACES)
        yield key, fixed_text(one.args["value"])


def _column_name(node: exp.Expression) -> str:
    if not isinstance(node, exp.Identifier | exp.ColumnDef | exp.Column) or not node.name:
        raise NotTranslatedError(f"{node.sql('spark')} as a column", node.sql("spark"))
    return node.name


def table_name(node: Any, sources: Sources) -> str:
    """Return ``database.table`` of a name in a statement."""
    check_parts(node, "this", "db", "catalog")
    return sources.name_of(tuple(part.name for part in node.parts))


def create_database(tree: exp.Create, sources: Sources) -> None:
    """Run CREATE DATABASE."""
    check_parts(tree, "this", "kind", "exists")
    name = _database(tree.this, sources)
    sources.catalog.create_database(name, exist_ok=bool(tree.args.get("exists")))


def is_of_database(tree: exp.Expression) -> bool:
    """Tell whether a statement creates or drops a database."""
    return str(tree.args.get("kind") or "").upper() in _DATABASES


def drop(tree: exp.Drop, sources: Sources) -> None:
    """Run DROP TABLE or DROP DATABASE."""
    check_parts(tree, "tables", "kind", "exists", "cascade", "restrict")
    (node,) = tree.args["tables"]
    missing_ok = bool(tree.args.get("exists"))
    if is_of_database(tree):
        name = _database(node, sources)
        cascade = bool(tree.args.get("cascade"))
        sources.catalog.drop_database(name, cascade=cascade, missing_ok=missing_ok)
        return
    if str(tree.args.get("kind")).upper() != "TABLE" or tree.args.get("cascade"):
        raise NotTranslatedError(f"DROP {tree.args.get('kind')}", "DROP")
    sources.catalog.drop_table(table_name(node, sources), missing_ok=missing_ok)


def truncate(tree: exp.TruncateTable, sources: Sources) -> None:
    """Run TRUNCATE TABLE."""
    check_parts(tree, "expressions")
    (node,) = tree.expressions
    sources.catalog.table(table_name(node, sources)).truncate()


def _database(node: Any, sources: Sources) -> str:
    check_parts(node, "this", "db", "catalog")
    path = [part.name for part in node.parts]
    if len(path) > 2 or (len(path) == 2 and path[0] != sources.catalog_name):
        raise NotTranslatedError(f"the catalog {path[0]}", path[0])
    return str(path[-1])
