"""Which rule of Spark is asking the catalog.

The catalog's ``loadRelation`` answers a SELECT with a view and everything else (DESCRIBE, ALTER …)
with a table, and Spark passes nothing that tells the two apart. The stack of the calling thread
does: Py4J runs what a callback calls on the very thread that waits for the callback.

Source: apache/spark@v4.2.0 and v4.3.0, ``Analyzer.ResolveRelations``, ``RelationResolution``,
``ReplaceTableExec``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge

_READS = "RelationResolution.tryResolvePersistent"
_COMMANDS = "lookupTableOrView"
_REPLACES = ("ReplaceTableExec", "ReplaceTableAsSelectExec")


def wants_rows(bridge: Bridge) -> bool:
    """Say whether the running callback resolves a relation to read from."""
    stack = _stack(bridge)
    reads, commands = stack.indexOf(_READS), stack.indexOf(_COMMANDS)
    return reads >= 0 and (commands < 0 or reads < commands)  # the inner caller comes first


def statement(bridge: Bridge) -> str:
    """Return the SQL text that is being resolved; "" for the DataFrame API."""
    origin = bridge.java_class("org.apache.spark.sql.catalyst.trees.CurrentOrigin").get()
    text = origin.sqlText()
    return str(text.get()) if text.isDefined() else ""


def replaces_table(bridge: Bridge) -> bool:
    """Say whether the running callback is one step of CREATE OR REPLACE TABLE."""
    stack = _stack(bridge)
    return any(stack.indexOf(name) >= 0 for name in _REPLACES)


def _stack(bridge: Bridge) -> Any:
    """Return the calling thread's stack as a Java ``StringBuffer``.

    It is searched over there: an answer of more than 8 KB costs 40 ms (two packets, of which the
    second waits for the acknowledgement of the first).
    """
    text = bridge.jvm.java.io.StringWriter()
    bridge.jvm.java.lang.Throwable().printStackTrace(bridge.jvm.java.io.PrintWriter(text))
    return text.getBuffer()
