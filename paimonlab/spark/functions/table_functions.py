"""``SELECT … FROM paimon_incremental_query('db.t', 3, 5)``: what commits changed, as a table.

The functions are known by name in the whole session, whichever catalog is current; the name of
the table is looked up as Spark does. Spark asks for a plan when the arguments are resolved.

Source: apache/paimon@5dacde5 ``PaimonTableValuedFunctions``; apache/spark@v4.2.0 and v4.3.0,
``TableFunctionRegistry``, ``SparkSessionExtensions.injectTableFunction``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.places import active_state, place_of
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.reading.arrow_table import frame_of
from paimonlab.spark.reading.frames import read_frame
from paimonlab.spark.reading.relation import scan_at
from paimonlab.spark.reading.system_tables import system_relation
from paimonlab.spark.reading.time_travel import TravelArguments
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.session_options import session_options
from paimonlab.spec.sql_text.table_functions import FUNCTIONS, REFUSED, IncrementalFunction
from paimonlab.table.system import SystemTable

_CATALYST = "org.apache.spark.sql.catalyst."


def offer_table_functions(bridge: Bridge) -> None:
    """Let queries of the session, its clones and sessions beside it call the functions."""
    registry = bridge.session.sessionState().tableFunctionRegistry()
    extensions = bridge.session.extensions()
    identifiers = bridge.java_class(_CATALYST + "FunctionIdentifier")
    infos = bridge.java_class(_CATALYST + "expressions.ExpressionInfo")
    builders: dict[str, Proxy] = {one.name: _Changes(bridge, one) for one in FUNCTIONS}
    builders |= {name: _Refused(bridge, name, advice) for name, advice in REFUSED.items()}
    a_builtin = registry.listFunction().head()  # Spark 4.3 knows it as system.builtin.…
    for name, builder in builders.items():
        identifier = identifiers(name, a_builtin.database(), a_builtin.catalog())
        if registry.functionExists(identifier):
            continue
        info = infos("paimonlab", name)
        registry.registerFunction(identifier, info, builder)
        extensions.injectTableFunction(bridge.jvm.scala.Tuple3(identifier, info, builder))


class _Changes(Proxy):
    """Makes the plan of a call."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, function: IncrementalFunction) -> None:
        super().__init__(bridge)
        self._function = function

    def apply(self, arguments: Any) -> Any:
        """Return the rows that a Scala ``Seq`` of expressions asks for."""
        function = self._function
        table, *points = _texts(as_list(self._bridge, arguments), function)
        return _plan(self._bridge, function.name, table, function.options(points))


class _Refused(Proxy):
    """Refuses a call."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, name: str, advice: str) -> None:
        super().__init__(bridge)
        self._name = name
        self._advice = advice

    def apply(self, arguments: Any) -> None:
        """Say why there is no such function, or what to write."""
        del arguments
        raise UnsupportedError(f"{self._name}(…)", self._advice)


def _texts(arguments: Sequence[Any], function: IncrementalFunction) -> list[str]:
    """Return the values of arguments as text.

    Raises
    ------
    UnsupportedError
        If there are more or fewer, or one of them is not a constant.
    """
    function.check(len(arguments))
    texts = []
    for argument in arguments:
        value = argument.eval(None) if argument.foldable() else None
        if value is None:
            raise function.not_constant(str(argument.sql()))
        texts.append(str(value if isinstance(value, int | str) else value.toString()))
    return texts


def _plan(bridge: Bridge, function: str, name: str, options: dict[str, str]) -> Any:
    parser = active_state(bridge).sqlParser()
    parts = [str(part) for part in as_list(bridge, parser.parseMultipartIdentifier(name))]
    place = place_of(bridge, parts, function)
    if place is None:
        raise UnsupportedError(
            f"{function} of {name}",
            "write catalog.database.table, in a catalog of Paimon",
        )
    table = place.catalog.relation(place.name)
    arguments: TravelArguments = {"options": options}
    if isinstance(table, SystemTable):
        shown = f"{place.catalog_name}.{table.name}"
        frame = frame_of(bridge, system_relation(bridge, shown, table, arguments))
    else:
        identifier = table.identifier
        given = session_options(bridge, (place.catalog_name, identifier.database, identifier.table))
        frame = read_frame(bridge, scan_at(table, arguments, given))
    return frame._jdf.queryExecution().analyzed()
