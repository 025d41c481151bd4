"""Statements that create, drop and describe functions of a catalog of ours.

Spark looks at the body of a function as it does at one of its own, in the moment before it is kept:
a temporary function of the same name is created and dropped.

Source: apache/spark@v4.2.0 and v4.3.0 ``CreateUserDefinedFunction``, ``CreateFunction``,
``DropFunction``, ``DescribeFunction``; apache/paimon@5dacde5 ``CreatePaimonSQLFunctionCommand``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from types import MappingProxyType
from typing import Any

from pyspark.sql.types import StringType, StructField, StructType

from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.function_bodies import with_full_names
from paimonlab.spark.catalogs.functions import FUNCTIONS, NAMESPACE
from paimonlab.spark.catalogs.namespaces import SESSION_CATALOG
from paimonlab.spark.catalogs.places import Place, named_place
from paimonlab.spark.catalogs.sql_functions import (
    DIALECT,
    function_from_spark,
    identifier,
    is_of_session,
    kept_function,
    sql_function,
)
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import command
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.values.types import to_spark
from paimonlab.spec.function import Function, SqlDefinition

_SQL_FUNCTION = "org.apache.spark.sql.catalyst.catalog.SQLFunction"
_REFERRED = ("referredTempViewNames", "referredTempFunctionsNames", "referredTempVariableNames")
_NOTHING = "[]"
_DESCRIBING = "org.apache.spark.sql.execution.command.DescribeFunctionCommand"
_DESCRIPTION = StructType([StructField("function_desc", StringType(), nullable=False)])
_lock = Lock()


def function_command(bridge: Bridge, plan: Any) -> Any:
    """Return a plan for a statement about a function in a catalog of ours; None: Spark's business.

    Parameters
    ----------
    bridge
        The session.
    plan
        What the parser made of the statement.

    Raises
    ------
    UnsupportedError
        If the catalog keeps no functions, or none of that kind.
    """
    return _COMMANDS[str(plan.getClass().getSimpleName())](bridge, plan)


def _place(bridge: Bridge, parts: Sequence[str], statement: str) -> Place | None:
    """Say where a function is to be; None: in a catalog that is not ours, or in Spark's own."""
    place = named_place(bridge, parts, statement=statement)
    return None if place is None or place.catalog_name == SESSION_CATALOG else place


def _create(bridge: Bridge, plan: Any) -> Any:
    place = _place(bridge, _texts(bridge, plan.child().nameParts()), "CREATE FUNCTION")
    if place is None:
        return None
    kept = _kept(place, "CREATE FUNCTION")
    what = f"CREATE FUNCTION {place.name}"
    if place.database.lower() == NAMESPACE:
        raise UnsupportedError(what, f"{NAMESPACE} has the functions of the catalog itself")
    if plan.isTableFunc():
        raise UnsupportedError(
            f"{what} that gives a table", "create a view, or a temporary function"
        )
    if plan.collation().isDefined():
        raise UnsupportedError(f"{what} with a collation", "texts of Paimon have none")
    if str(plan.language()).upper() != "LANGUAGESQL":
        raise UnsupportedError(f"{what} in another language than SQL", _TEMPORARY)
    if is_of_session(bridge, place.table):
        raise UnsupportedError(
            f"{what} while Spark or the session has a function {place.table}",
            "that one would be called: take another name, or drop the temporary function",
        )

    def run(session: Any) -> list[list[str]]:
        exists = kept.has_function(place.name)
        if exists and plan.ignoreIfExists():
            return []
        made = _looked_at(bridge, session, place, plan)
        comment = str(plan.comment().get()) if plan.comment().isDefined() else None
        function = function_from_spark(bridge, made, comment)
        if exists and plan.replace():
            kept.replace_function(place.name, function)
        else:
            kept.create_function(place.name, function, exist_ok=bool(plan.ignoreIfExists()))
        return []

    return command(bridge, run, what, StructType())


def _looked_at(bridge: Bridge, session: Any, place: Place, plan: Any) -> Any:
    """Return what Spark finds out about a function; its errors are Spark's.

    Raises
    ------
    UnsupportedError
        If the body names what other sessions do not have.
    """
    state = session.sessionState()
    catalog, parser = state.catalog(), state.sqlParser()
    manager = state.catalogManager()
    within = (str(manager.currentCatalog().name()), *map(str, manager.currentNamespace()))
    body = plan.exprText() if plan.exprText().isDefined() else plan.queryText()
    with_full_names(bridge, str(body.get()), within, what=f"CREATE FUNCTION {place.name}")
    with _lock:
        session.sql(_temporary(plan, place.table))
        try:
            info = catalog.lookupFunctionInfo(identifier(bridge, place.table))
            made = bridge.java_class(_SQL_FUNCTION).fromExpressionInfo(info, parser)
        finally:
            catalog.dropTempFunction(place.table, True)  # noqa: FBT003 - a call of Java's
    as_java = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava
    properties = bridge.texts_of_map(as_java(made.properties()))
    for key in _REFERRED:
        if properties.get(key, _NOTHING) != _NOTHING:
            raise UnsupportedError(
                f"CREATE FUNCTION {place.name} with what is temporary: {properties[key]}",
                f"other sessions do not have it; {_TEMPORARY}",
            )
    return made


def _temporary(plan: Any, name: str) -> str:
    def clause(value: Any, before: str = "", otherwise: str = "") -> str:
        return f"{before}{value.get()}" if value.isDefined() else otherwise

    returned = str(plan.returnTypeText() or "").strip()
    lines = [
        f"CREATE TEMPORARY FUNCTION {quoted(name)}(",
        clause(plan.inputParamText()),
        ")",
        f"RETURNS {returned}" if returned else "",
        _chosen(plan.isDeterministic(), "DETERMINISTIC", "NOT DETERMINISTIC"),
        _chosen(plan.containsSQL(), "CONTAINS SQL", "READS SQL DATA"),
        "RETURN",
        clause(plan.exprText(), otherwise=clause(plan.queryText())),
    ]
    return "\n".join(line for line in lines if line)


def _chosen(value: Any, yes: str, no: str) -> str:
    if not value.isDefined():
        return ""
    return yes if value.get() else no


def _create_class(bridge: Bridge, plan: Any) -> Any:
    place = _place(bridge, _texts(bridge, plan.child().nameParts()), "CREATE FUNCTION")
    if place is None:
        return None
    _kept(place, "CREATE FUNCTION")
    raise UnsupportedError(
        f"CREATE FUNCTION {place.name} AS a class",
        f"functions are kept that are written in SQL: RETURN …; {_TEMPORARY}",
    )


def _drop(bridge: Bridge, plan: Any) -> Any:
    place = _place(bridge, _texts(bridge, plan.child().nameParts()), "DROP FUNCTION")
    if place is None:
        return None
    kept = _kept(place, "DROP FUNCTION")

    def run(session: Any) -> list[list[str]]:
        del session
        kept.drop_function(place.name, missing_ok=bool(plan.ifExists()))
        return []

    return command(bridge, run, f"DROP FUNCTION {place.name}", StructType())


def _describe(bridge: Bridge, plan: Any) -> Any:
    parts = _texts(bridge, plan.child().multipartIdentifier())
    if len(parts) == 1 and is_of_session(bridge, parts[0]):
        return None
    place = named_place(bridge, parts)
    if place is None:
        return None
    extended = bool(plan.isExtended())
    if place.database.lower() == NAMESPACE and place.table.lower() in FUNCTIONS:
        found = FUNCTIONS[place.table.lower()](bridge)
        return _rows(bridge, place, [f"Usage:         {found.description()}"])
    function = kept_function(place)
    if function is None:
        return None
    if isinstance(function.definitions.get(DIALECT), SqlDefinition):
        info = sql_function(bridge, place, function, is_called=False).toExpressionInfo()
        describing = bridge.java_class(_DESCRIBING)(info, extended)

        def shown(session: Any) -> list[list[str]]:
            _, *lines = as_list(bridge, describing.run(session))  # the first has another catalog
            return [_title(place), *([str(line.getString(0))] for line in lines)]

        return command(bridge, shown, f"DESCRIBE FUNCTION {place.name}", _DESCRIPTION)
    return _rows(bridge, place, _lines(function, extended=extended))


def _lines(function: Function, *, extended: bool) -> Iterator[str]:
    for title, fields in (("Input:", function.input_params), ("Returns:", function.return_params)):
        for field in fields:
            spark_type = to_spark(field.type, column=field.name, plain=True).simpleString().upper()
            yield f"{title:14} {field.name} {spark_type}"
    if not extended:
        return
    yield f"{'Comment:':14} {function.comment or ''}"
    yield f"{'Deterministic:':14} {str(function.is_deterministic).lower()}"
    for engine, definition in sorted(function.definitions.items()):
        kind = type(definition).__name__.removesuffix("Definition").lower()
        yield f"{'Defined for:':14} {engine} ({kind})"


def _rows(bridge: Bridge, place: Place, lines: Any) -> Any:
    answer = [_title(place), *([line] for line in lines)]
    return command(bridge, lambda _: answer, f"DESCRIBE FUNCTION {place.name}", _DESCRIPTION)


def _title(place: Place) -> list[str]:
    return [f"{'Function:':14} {place.catalog_name}.{place.name}"]


def _kept(place: Place, statement: str) -> FunctionCatalog:
    if not isinstance(place.catalog, FunctionCatalog):
        raise UnsupportedError(
            f"{statement} {place.name} in catalog {place.catalog_name}",
            f"it keeps no functions, catalogs of a REST server do; {_TEMPORARY}",
        )
    return place.catalog


def _texts(bridge: Bridge, parts: Any) -> list[str]:
    return [str(part) for part in as_list(bridge, parts)]


_TEMPORARY = "CREATE TEMPORARY FUNCTION works"
_COMMANDS: Mapping[str, Callable[[Bridge, Any], Any]] = MappingProxyType(
    {
        "CreateUserDefinedFunction": _create,
        "CreateFunction": _create_class,
        "DropFunction": _drop,
        "DescribeFunction": _describe,
    }
)
FUNCTION_STATEMENTS = frozenset(_COMMANDS)
"""The simple names of Spark's plans."""
