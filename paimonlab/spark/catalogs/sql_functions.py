"""SQL functions that a catalog keeps, as Spark knows SQL functions.

The text of the body is kept as the definition for ``spark``, and what else Spark notes down about a
function of its own (settings of the session, where names in the body are looked up) as options.

Source: apache/paimon@5dacde5 ``SQLFunctionConverter``, ``CreatePaimonSQLFunctionCommand``;
apache/spark@v4.2.0 and v4.3.0 ``SQLFunction``, ``SQLFunctionExpression``, ``SessionCatalog``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace
from pyspark.errors import AnalysisException
from pyspark.sql.types import StructField, StructType

from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.catalog.names import SYSTEM_DATABASE
from paimonlab.errors import FunctionNotFoundError, UnsupportedError
from paimonlab.spark.catalogs.function_bodies import with_full_names
from paimonlab.spark.catalogs.places import Place, active_state
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.values.types import fields_from_spark, from_spark, spark_schema
from paimonlab.spec.function import Function, SqlDefinition
from paimonlab.spec.types.data_types import DataField

DIALECT = "spark"
"""The definition of a function that Spark reads and writes."""
_CATALYST = "org.apache.spark.sql.catalyst."
_PREFIX = "spark.sql-function."
_IS_QUERY, _DETERMINISTIC, _CONTAINS_SQL = (
    _PREFIX + "is-query",
    _PREFIX + "deterministic",
    _PREFIX + "contains-sql",
)
_PLACE = "catalogAndNamespace."
_DEFAULT = "default"
"""The key of Spark's metadata that has the default of a parameter."""


def function_from_spark(bridge: Bridge, made: Any, comment: str | None) -> Function:
    """Turn an ``SQLFunction`` of Spark into what a catalog keeps."""
    is_query = not made.exprText().isDefined()
    body = made.queryText().get() if is_query else made.exprText().get()
    options = {_IS_QUERY: _text(is_query)}
    for key, value in ((_DETERMINISTIC, made.deterministic()), (_CONTAINS_SQL, made.containsSQL())):
        if value.isDefined():
            options[key] = _text(bool(value.get()))
    as_java = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava
    options |= bridge.texts_of_map(as_java(made.properties()))
    name = str(made.name().funcName())
    returned = from_spark(bridge.python_type(made.getScalarFuncReturnType()), column=name)
    deterministic = made.deterministic()
    return Function(
        input_params=_parameters(bridge, made),
        return_params=(DataField(0, name, returned),),
        is_deterministic=bool(deterministic.get()) if deterministic.isDefined() else True,
        definitions={DIALECT: SqlDefinition(definition=str(body))},
        comment=comment,
        options=options,
    )


def _parameters(bridge: Bridge, made: Any) -> tuple[DataField, ...]:
    if not made.inputParam().isDefined():
        return ()
    schema = bridge.python_schema(made.inputParam().get())
    return tuple(
        replace(field, default_value=column.metadata.get(_DEFAULT))
        for field, column in zip(fields_from_spark(schema), schema.fields, strict=True)
    )


def sql_function(
    bridge: Bridge, place: Place, function: Function, *, is_called: bool = True
) -> Any:
    """Turn what a catalog keeps into an ``SQLFunction`` of Spark.

    Parameters
    ----------
    bridge
        The session.
    place
        Where the function is.
    function
        What is kept.
    is_called
        Whether names in its body are to be found wherever it is called; else it is described.

    Raises
    ------
    UnsupportedError
        If its definition for Spark is none, or not in SQL; if its body cannot be called.
    """
    definition = function.definitions.get(DIALECT)
    if not isinstance(definition, SqlDefinition):
        raise UnsupportedError(
            f"{place.name}, a function that the catalog keeps,",
            "Spark runs those that have a definition in SQL for spark; this one has "
            + ("none" if definition is None else "program text or a class"),
        )
    if len(function.return_params) != 1:
        raise UnsupportedError(
            f"{place.name}, a function that gives {len(function.return_params)} values,",
            "a function of Spark gives one",
        )
    body = definition.definition
    options = dict(function.options)
    said = options.get(_IS_QUERY)
    is_query = _is_query(bridge, body) if said is None else said == _text(value=True)
    contains = options.get(_CONTAINS_SQL)
    deterministic = options.get(_DETERMINISTIC, _text(function.is_deterministic))
    properties = {key: value for key, value in options.items() if not key.startswith(_PREFIX)}
    if is_called:
        within = _within(properties) or (place.catalog_name, place.database)
        body = with_full_names(bridge, body, within, what=place.name)
    some, none = bridge.some, bridge.none()
    parameters = _spark_parameters(bridge, function)
    (returned,) = spark_schema(function.return_params, plain=True).fields
    arguments = [
        identifier(bridge, place.table, place.database, place.catalog_name),
        none if parameters is None else some(parameters),
        bridge.jvm.scala.util.Left(bridge.java_type(returned.dataType)),
        none if is_query else some(body),
        some(body) if is_query else none,
        none if function.comment is None else some(function.comment),
        none,
        some(deterministic == _text(value=True)),
        none if contains is None else some(contains == _text(value=True)),
        False,
        bridge.scala_map(properties),
        none,
        0,
    ]
    return bridge.java_class(_CATALYST + "catalog.SQLFunction")(*arguments)


def _within(properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return the catalog and database that were current when a function was created."""
    count = int(properties.get(f"{_PLACE}numParts", "0"))
    return tuple(properties[f"{_PLACE}part.{index}"] for index in range(count))


def _spark_parameters(bridge: Bridge, function: Function) -> Any:
    if not function.input_params:
        return None
    columns = spark_schema(function.input_params, plain=True).fields
    fields = []
    for column, field in zip(columns, function.input_params, strict=True):
        metadata = dict(column.metadata)
        if field.default_value is not None:
            metadata[_DEFAULT] = field.default_value
        fields.append(StructField(column.name, column.dataType, column.nullable, metadata))
    return bridge.java_schema(StructType(fields))


def identifier(bridge: Bridge, name: str, *before: str) -> Any:
    """Make a ``FunctionIdentifier``; ``before`` is nothing, or database and catalog."""
    made = bridge.java_class(_CATALYST + "FunctionIdentifier")
    if not before:
        return made(name, bridge.none())
    return made(name, *(bridge.some(part) for part in before))


def called(bridge: Bridge, function: Any, arguments: Any) -> Any:
    """Return the expression that calls an ``SQLFunction``, its arguments put in order."""
    catalog = active_state(bridge).catalog()
    loader = bridge.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    known = loader.loadClass(_CATALYST + "catalog.SessionCatalog")
    parameters = bridge.array("java.lang.Class", [function.getClass()])
    method = known.getDeclaredMethod("makeSQLFunctionBuilder", parameters)
    method.setAccessible(True)
    builder = method.invoke(catalog, bridge.array("java.lang.Object", [function]))
    return builder.apply(arguments)


def is_of_session(bridge: Bridge, name: str) -> bool:
    """Say whether a name alone means a function of Spark's own, or a temporary one."""
    catalog = active_state(bridge).catalog()
    return bool(catalog.isBuiltinFunction(name)) or is_temporary(bridge, name)


def is_temporary(bridge: Bridge, name: str) -> bool:
    """Say whether the session has a temporary function of that name."""
    catalog = active_state(bridge).catalog()
    return bool(catalog.isTemporaryFunction(identifier(bridge, name)))


def kept_function(place: Place | None) -> Function | None:
    """Return a function that a catalog of ours keeps; None if there is none."""
    if place is None or not isinstance(place.catalog, FunctionCatalog):
        return None
    if place.database.lower() == SYSTEM_DATABASE:  # `sys.max_pt` and its like are of every catalog
        return None
    try:
        return place.catalog.function(place.name)
    except FunctionNotFoundError:
        return None


def _is_query(bridge: Bridge, body: str) -> bool:
    try:
        active_state(bridge).sqlParser().parseExpression(body)
    except AnalysisException:  # it is a query, or Spark will say what is wrong
        return True
    return False


def _text(value: bool) -> str:  # noqa: FBT001
    return "true" if value else "false"
