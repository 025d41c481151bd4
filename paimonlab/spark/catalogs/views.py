"""Views that a catalog keeps, in Spark.

A view is the text of a query that Spark runs where the view lies: names in it without a database
mean tables of the view's own. Its columns are those of the query by position, cast upwards.

Source: apache/paimon@5dacde5 ``SupportView``, ``PaimonViewResolver``; apache/spark@v4.2.0 and
v4.3.0, ``ViewCatalog``, ``RelationCatalog``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from msgspec import structs
from pyspark.sql.types import StructType

from paimonlab.catalog.names import is_name
from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import AlreadyExistsError, UnsupportedError, ViewNotFoundError
from paimonlab.spark.catalogs.namespaces import Namespaces
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.values.types import fields_from_spark, spark_schema
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.text import parse_type
from paimonlab.spec.view import View

DIALECT = "spark"
"""The dialect of views that Spark reads and writes."""
_COMMENT = "comment"
_SET_BY_SPARK = frozenset({"owner", "table_type", "collation", "provider", _COMMENT})
_CAPTURED = (
    "spark.sql.ansi.enabled",
    "spark.sql.session.timeZone",
    "spark.sql.legacy.charVarcharAsString",
)
"""Settings of the session that a view is read with; Paimon keeps none with it."""


class Views(Namespaces):
    """The part of `SparkCatalog` that knows views."""

    def listViews(self, namespace: Sequence[str]) -> Any:
        """Return the views of a database."""
        kept = self._kept_views()
        names = kept.views(self._database(namespace)) if kept and self._exists(namespace) else []
        identifiers = [self._bridge.identifier(list(namespace), name) for name in names]
        return self._bridge.array(CONNECTOR + "catalog.Identifier", identifiers)

    def viewExists(self, identifier: Any) -> bool:
        """Say whether there is such a view."""
        return self._view(identifier) is not None

    def loadView(self, identifier: Any) -> Any:
        """Return a view to be described or altered."""
        view = self._view(identifier)
        if view is None:
            self._throw("NoSuchViewException", identifier)
        return self._spark_view(identifier, view, view.query_in(DIALECT))

    def _relation_of_view(self, identifier: Any, *, is_read: bool) -> Any:
        """Return a view where Spark asks for a table or a view.

        Where rows are read, the columns of the query are found by position.
        """
        view = self._view(identifier)
        if view is None:
            self._throw("NoSuchTableException", identifier)
        if not is_read:
            return self._spark_view(identifier, view, view.query_in(DIALECT))
        columns = ", ".join(quoted(field.name) for field in view.fields)
        text = f"SELECT * FROM (\n{view.query_in(DIALECT)}\n) AS v({columns})"  # noqa: S608 - its own
        view = replace(view, fields=_as_text(view.fields))
        return self._spark_view(identifier, view, text)

    def invalidateView(self, identifier: Any) -> None:
        """Forget nothing: views are looked up anew for each statement."""

    def createView(self, identifier: Any, view: Any) -> Any:
        """Create a view."""
        kept = self._kept_views("CREATE VIEW", identifier)
        try:
            kept.create_view(self._view_name(identifier), view_from_spark(self._bridge, view))
        except AlreadyExistsError:
            self._throw("ViewAlreadyExistsException", identifier)
        return view

    def replaceView(self, identifier: Any, view: Any) -> Any:
        """Give a view another definition."""
        kept = self._kept_views("ALTER VIEW", identifier)
        before = self._view(identifier)
        if before is None:
            self._throw("NoSuchViewException", identifier)
        made = view_from_spark(self._bridge, view, before)
        kept.replace_view(self._view_name(identifier), made)
        return view

    def createOrReplaceView(self, identifier: Any, view: Any) -> Any:
        """Create a view or give it another definition."""
        exists = self._view(identifier) is not None
        return (self.replaceView if exists else self.createView)(identifier, view)

    def dropView(self, identifier: Any) -> bool:
        """Run DROP VIEW; False if there is no such view."""
        kept = self._kept_views()
        if kept is None or self._view(identifier) is None:
            return False
        kept.drop_view(self._view_name(identifier))
        return True

    def renameView(self, old: Any, new: Any) -> None:
        """Run ALTER VIEW … RENAME TO; a new name without database stays in the old one's."""
        if self._view(old) is None:
            self._throw("NoSuchViewException", old)
        namespace = list(new.namespace()) or list(old.namespace())
        target = f"{self._database(namespace)}.{new.name()}"
        try:
            self._kept_views("ALTER VIEW", old).rename_view(self._view_name(old), target)
        except AlreadyExistsError:
            self._throw("ViewAlreadyExistsException", new)

    def _kept_views(self, statement: str = "", identifier: Any = None) -> Any:
        """Return the catalog if it keeps views; else None, or an error if a statement is given."""
        if isinstance(self._catalog, ViewCatalog):
            return self._catalog
        if statement:
            refuse_views(statement, str(identifier.name()), self._name)
        return None

    def _view(self, identifier: Any) -> View | None:
        kept = self._kept_views()
        name = ".".join([*identifier.namespace(), identifier.name()])
        if kept is None or len(identifier.namespace()) != 1 or not is_name(name):
            return None
        try:
            view: View = kept.view(name)
        except ViewNotFoundError:
            return None
        return view

    def _view_name(self, identifier: Any) -> str:
        return f"{self._database(identifier.namespace())}.{identifier.name()}"

    def _spark_view(self, identifier: Any, view: View, text: str) -> Any:
        builder = self._bridge.java_class(CONNECTOR + "catalog.View$Builder")()
        builder.withSchema(self._bridge.java_schema(spark_schema(view.fields)))
        builder.withQueryText(text)
        builder.withCurrentCatalog(self._name)
        builder.withCurrentNamespace(self._bridge.strings(list(identifier.namespace())))
        names = [field.name for field in view.fields]
        builder.withQueryColumnNames(self._bridge.strings(names))
        builder.withSqlConfigs(self._bridge.map(_settings(self._bridge)))
        builder.withSchemaMode("COMPENSATION")
        properties = dict(view.options)
        if view.comment is not None:
            properties[_COMMENT] = view.comment
        builder.withProperties(self._bridge.map(properties))
        return builder.build()


def refuse_views(statement: str, name: str, catalog: str) -> NoReturn:
    """Refuse a statement about a view in a catalog that keeps none."""
    raise UnsupportedError(
        f"{statement} {name} in catalog {catalog}",
        "a catalog of files keeps no views and no functions; catalogs of a Hive metastore, of a "
        "JDBC database and of a REST server keep views. CREATE TEMPORARY VIEW works",
    )


def view_of_query(
    schema: StructType,
    text: str,
    *,
    comment: str | None = None,
    options: Mapping[str, str] | None = None,
) -> View:
    """Make a view of a query that Spark knows the columns of.

    Raises
    ------
    SchemaError
        If two columns have one name.
    UnsupportedError
        If Paimon has no type for a column.
    """
    fields = _as_text(fields_from_spark(schema))
    fields = new_table_schema(Schema(fields), time_millis=0).fields
    return View(
        fields=fields, query=text, dialects={DIALECT: text}, comment=comment, options=options or {}
    )


def view_from_spark(bridge: Bridge, view: Any, before: View | None = None) -> View:
    """Turn Spark's view into ours; ``before`` is what it changes, whose other dialects stay."""
    given = {str(key): str(value) for key, value in dict(view.properties()).items()}
    made = view_of_query(
        bridge.python_schema(view.schema()),
        str(view.queryText()),
        comment=given.get(_COMMENT),
        options={key: value for key, value in given.items() if key not in _SET_BY_SPARK},
    )
    if before is None or before.query_in(DIALECT) != made.query:
        return made
    return View(
        fields=before.fields,
        query=before.query,
        dialects=before.dialects,
        comment=made.comment,
        options=made.options,
    )


def _as_text(fields: Sequence[DataField]) -> tuple[DataField, ...]:
    """Make CHAR and VARCHAR plain text, which they are to what reads a view."""
    return tuple(structs.replace(field, type=_type_as_text(field.type)) for field in fields)


def _type_as_text(data_type: DataType) -> DataType:
    match data_type:
        case ArrayType(element) | MultisetType(element):
            return structs.replace(data_type, element=_type_as_text(element))
        case MapType(key, value):
            return structs.replace(data_type, key=_type_as_text(key), value=_type_as_text(value))
        case RowType(fields):
            return structs.replace(data_type, fields=_as_text(fields))
        case AtomicType(TypeRoot.CHAR | TypeRoot.VARCHAR):
            return parse_type("STRING" if data_type.nullable else "STRING NOT NULL")
    return data_type


def _settings(bridge: Bridge) -> dict[str, str]:
    conf = bridge.conf
    return {key: str(conf.getConfString(key)) for key in _CAPTURED}
