"""Procedures in Spark: ``CALL paimon.sys.compact(table => 'db.t')``.

Spark asks the catalog for a procedure, binds arguments to its parameters and calls it while it
analyses the statement; the rows come back with the plan.

Source: apache/spark@v4.2.0 and v4.3.0, ``ProcedureCatalog``, ``Analyzer.BindProcedures``,
``InvokeProcedures``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as st

from paimonlab.errors import ArgumentError, UnsupportedError, habits
from paimonlab.procedures import PROCEDURES, Parameter, Procedure, bind, find
from paimonlab.spark.catalogs.namespaces import DEFAULT_DATABASE, Namespaces
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.listening import progress_of, tell
from paimonlab.spark.reading.local_scan import LocalScan, arrow_spark_schema
from paimonlab.spark.session_options import READS, check_no_branch, options_of, session_options
from paimonlab.spark.values.types import spark_schema
from paimonlab.spark.writing.workers import SparkWorkers
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import format_type

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.table.table import Table

NAMESPACE = "sys"
"""Where procedures are, in upper or lower case."""
_PROCEDURES = CONNECTOR + "catalog.procedures."
_BY_PLACE = re.compile(r"param(\d+)")
"""Spark's name for an argument without a name."""
_WHOLE = (st.ByteType, st.ShortType, st.IntegerType)
_NESTED = (st.ArrayType, st.MapType, st.StructType)


class Procedures(Namespaces):
    """The part of `SparkCatalog` that knows procedures."""

    def listProcedures(self, namespace: Sequence[str]) -> Any:
        """Return all of them: every database has the same."""
        del namespace
        identifiers = [self._bridge.identifier([NAMESPACE], name) for name in sorted(PROCEDURES)]
        return self._bridge.array(CONNECTOR + "catalog.Identifier", identifiers)

    def loadProcedure(self, identifier: Any) -> Any:
        """Return a procedure, not bound to arguments yet."""
        namespace = [str(part) for part in identifier.namespace()]
        if [part.lower() for part in namespace] != [NAMESPACE]:
            named = find(habits.procedure(str(identifier.name()))).name
            raise UnsupportedError(
                f"CALL {'.'.join([*namespace, str(identifier.name())])}",
                f"run CALL {self._name}.sys.{named}(…)",
            )
        return _Unbound(self._bridge, find(identifier.name()), self._catalog, self._name)


class _Named(Proxy):
    """What Spark asks of a procedure before and after it has its arguments.

    The two are different objects: Spark takes one that is both for not bound yet, for ever.
    """

    def __init__(
        self, bridge: Bridge, procedure: Procedure, catalog: Catalog, catalog_name: str
    ) -> None:
        super().__init__(bridge)
        self._procedure = procedure
        self._catalog = catalog
        self._catalog_name = catalog_name

    def name(self) -> str:
        """Return its name, as it stands after ``sys.``."""
        return self._procedure.name

    def description(self) -> str:
        """Return what DESCRIBE PROCEDURE shows."""
        return self._procedure.description


class _Unbound(_Named):
    """A procedure as Spark finds it."""

    class Java:
        """py4j's list of interfaces."""

        implements = [_PROCEDURES + "UnboundProcedure"]  # noqa: RUF012

    def bind(self, input_type: Any) -> Any:
        """Return what is called with arguments of these types."""
        _check_types(self._procedure, self._bridge.python_schema(input_type))
        return _Bound(self._bridge, self._procedure, self._catalog, self._catalog_name)


class _Bound(_Named):
    """A procedure that can be called."""

    class Java:
        """py4j's list of interfaces."""

        implements = [_PROCEDURES + "BoundProcedure"]  # noqa: RUF012

    def isDeterministic(self) -> bool:
        """Say that two calls may differ."""
        return False

    def parameters(self) -> Any:
        """Return its parameters; an argument left out is NULL."""
        made = [self._parameter(parameter) for parameter in self._procedure.parameters]
        return self._bridge.array(_PROCEDURES + "ProcedureParameter", made)

    def call(self, values: Any) -> Any:
        """Run it; ``values`` is an ``InternalRow`` with one value per parameter."""
        procedure, bridge = self._procedure, self._bridge
        check_no_branch(
            bridge,
            f"CALL {self._catalog_name}.sys.{procedure.name}",
            "name the branch in the call: table => 'db.t$branch_…'",
        )
        given = dict(_given(values, procedure.parameters))
        noted: list[object] = []
        rows = procedure.call(
            self._catalog,
            bind(procedure, named=given),
            default_database=current_database(bridge, self._catalog_name),
            catalog_name=self._catalog_name,
            progress=progress_of(bridge),
            workers=SparkWorkers(bridge),
            of_session=self._of_session,
            noted=noted,
        )
        tell(bridge, noted)
        schema = arrow_spark_schema(rows.schema)
        scan = LocalScan(bridge, f"{self._catalog_name}.sys.{procedure.name}", schema, lambda: rows)
        return bridge.list([scan]).iterator()

    def _of_session(self, table: Table) -> Mapping[str, str]:
        name = table.identifier
        given = session_options(self._bridge, (self._catalog_name, name.database, name.table))
        changing = {key: one for key, one in given.items() if not key.startswith(READS)}
        return options_of(changing, table, writes=True)

    def _parameter(self, parameter: Parameter) -> Any:
        make = getattr(self._bridge.java_class(_PROCEDURES + "ProcedureParameter"), "in")
        (field,) = spark_schema([DataField(0, parameter.name, parameter.type)], plain=True)
        builder = make(parameter.name, self._bridge.java_type(field.dataType))
        builder.comment(parameter.description)
        if not parameter.is_required:
            builder.defaultValue("NULL")
        return builder.build()


def _given(values: Any, parameters: Sequence[Parameter]) -> Iterator[tuple[str, object]]:
    """Yield the arguments of a call that are not NULL."""
    fields = spark_schema(
        [DataField(place, one.name, one.type) for place, one in enumerate(parameters)], plain=True
    )
    for place, field in enumerate(fields):
        if not values.isNullAt(place):
            yield field.name, _value(values, place, field.dataType)


def _value(values: Any, place: int, data_type: st.DataType) -> object:
    match data_type:
        case st.BooleanType():
            return bool(values.getBoolean(place))
        case st.IntegerType():
            return int(values.getInt(place))
        case st.LongType():
            return int(values.getLong(place))
        case st.MapType():
            return _texts(values.getMap(place))
        case _:
            return str(values.getUTF8String(place).toString())


def _texts(values: Any) -> dict[str, str | None]:
    keys, texts = values.keyArray(), values.valueArray()
    return {
        str(keys.getUTF8String(place).toString()): (
            None if texts.isNullAt(place) else str(texts.getUTF8String(place).toString())
        )
        for place in range(values.numElements())
    }


def _check_types(procedure: Procedure, given: st.StructType) -> None:
    """Refuse arguments that Spark would cast with a loss, or to NULL.

    Raises
    ------
    ArgumentError
        Names the parameter.
    """
    by_name: Mapping[str, Parameter] = {one.name.lower(): one for one in procedure.parameters}
    for argument in given:
        position = _BY_PLACE.fullmatch(argument.name)
        parameter = by_name.get(argument.name.lower())
        if (
            parameter is None
            and position is not None
            and int(position[1]) < len(procedure.parameters)
        ):
            parameter = procedure.parameters[int(position[1])]
        if parameter is None:  # Spark says so itself
            continue
        (wanted,) = spark_schema([DataField(0, parameter.name, parameter.type)], plain=True)
        if not _is_kept(argument.dataType, wanted.dataType):
            raise ArgumentError(
                procedure.name,
                f"{parameter.name} => a value of type {argument.dataType.simpleString()} is not a "
                f"valid {format_type(parameter.type)}",
            )


def _is_kept(given: st.DataType, wanted: st.DataType) -> bool:
    """Return whether every value of a type keeps its meaning as another."""
    if isinstance(given, st.NullType) or given == wanted:
        return True
    match wanted:
        case st.LongType() | st.IntegerType():
            return isinstance(given, _WHOLE)
        case st.StringType():
            return not isinstance(given, (*_NESTED, st.BinaryType, st.FloatType, st.DoubleType))
        case st.MapType():
            return isinstance(given, st.MapType) and all(
                _is_kept(*pair)
                for pair in (
                    (given.keyType, wanted.keyType),
                    (given.valueType, wanted.valueType),
                )
            )
        case _:
            return False


def current_database(bridge: Bridge, catalog_name: str) -> str:
    """Return the database of a table that is named without one.

    Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.utils.SparkUtils``.
    """
    manager = bridge.session.sessionState().catalogManager()
    namespace = list(manager.currentNamespace())
    is_current = str(manager.currentCatalog().name()) == catalog_name
    return str(namespace[0]) if is_current and len(namespace) == 1 else DEFAULT_DATABASE
