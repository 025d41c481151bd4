"""Spark expressions that its functions do not offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import types as st
from pyspark.sql.classic.column import Column as ClassicColumn

if TYPE_CHECKING:
    from pyspark.sql import Column

    from paimonlab.spark.jvm.bridge import Bridge

_FUNCTIONS = "org.apache.spark.sql.functions"
_EXPRESSION_UTILS = "org.apache.spark.sql.classic.ExpressionUtils"
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."

_NULL_IF_ARGUMENT_IS = True
_NULL_OTHERWISE = False
_DETERMINISTIC = True

_TYPES: dict[str, st.DataType] = {
    "bigint": st.LongType(),
    "binary": st.BinaryType(),
    "double": st.DoubleType(),
    "float": st.FloatType(),
    "int": st.IntegerType(),
}


def call_static(
    bridge: Bridge,
    class_name: str,
    method: str,
    result: st.DataType,
    *arguments: tuple[Column, str],
) -> Column:
    """Call a static Java method in generated code.

    Parameters
    ----------
    bridge
        The session.
    class_name, method
        A pure method of a class that every executor has.
    result
        Spark's type of what it returns; null if an argument is null, and only then.
    arguments
        Each a column and the name of its type: bigint, binary, double, float or int.
    """
    invoke = bridge.java_class(_EXPRESSIONS + "objects.StaticInvoke")
    return column_of(
        bridge,
        invoke(
            bridge.jvm.java.lang.Class.forName(class_name),
            bridge.java_type(result),
            method,
            bridge.seq([expression_of(bridge, column) for column, _ in arguments]),
            bridge.seq([bridge.java_type(_TYPES[name]) for _, name in arguments]),
            *(_NULL_IF_ARGUMENT_IS, _NULL_OTHERWISE, _DETERMINISTIC),
            bridge.none(),
        ),
    )


def unscaled(bridge: Bridge, decimal: Column) -> Column:
    """Return the digits of a DECIMAL of at most 18 as BIGINT: 1.20 is 120."""
    value = bridge.java_class(_EXPRESSIONS + "UnscaledValue")
    return column_of(bridge, value(expression_of(bridge, decimal)))


def null_of(bridge: Bridge, data_type: st.DataType) -> Column:
    """Make NULL of a type, also of TIME, which Spark casts nothing to."""
    literal = bridge.module(_EXPRESSIONS + "Literal")
    return column_of(bridge, literal.create(None, bridge.java_type(data_type)))


def time_of_millis(bridge: Bridge, millis: Column, time: st.DataType) -> Column:
    """Make TIME of milliseconds since midnight: Spark's value is the number of nanoseconds."""
    convert = bridge.java_class(_EXPRESSIONS + "PreciseTimestampConversion")
    nanos = expression_of(bridge, millis.cast("bigint") * 1_000_000)
    types = (bridge.java_type(st.LongType()), bridge.java_type(time))
    return column_of(bridge, convert(nanos, *types))


def micros_of(bridge: Bridge, instant: Column, data_type: st.DataType) -> Column:
    """Return TIMESTAMP as microseconds since the epoch, BIGINT, whatever the session's zone is."""
    convert = bridge.java_class(_EXPRESSIONS + "PreciseTimestampConversion")
    types = (bridge.java_type(data_type), bridge.java_type(st.LongType()))
    return column_of(bridge, convert(expression_of(bridge, instant), *types))


def expression_of(bridge: Bridge, column: Column) -> Any:
    """Return the Catalyst expression of a column."""
    return bridge.java_class(_EXPRESSION_UTILS).expression(column._jc)


def column_of(bridge: Bridge, expression: Any) -> Column:
    """Make a column of a Catalyst expression."""
    return ClassicColumn(bridge.java_class(_EXPRESSION_UTILS).column(expression))


def named_column(bridge: Bridge, expression: Any, name: str) -> Column:
    """Make a column of that name in two calls; PySpark's ``alias`` alone takes six."""
    return ClassicColumn(bridge.java_class(_EXPRESSION_UTILS).column(expression).alias(name))


def aliased(column: Column, name: str) -> Column:
    """Give a column a name in one call; PySpark's ``alias`` takes six, to tell who called it."""
    return ClassicColumn(column._jc.alias(name))


def renamed_column(bridge: Bridge, column: str, name: str) -> Column:
    """Refer to a column, as SQL would write it, by another name, in two calls instead of twelve."""
    return ClassicColumn(bridge.java_class(_FUNCTIONS).col(column).alias(name))
