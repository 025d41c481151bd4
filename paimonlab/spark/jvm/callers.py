"""Which rule of Spark is asking the catalog.

The catalog's ``loadRelation`` answers a SELECT with a view and everything else (DESCRIBE, ALTER …)
with a table. Spark passes nothing that tells them apart. The stack of the calling thread does:
Py4J runs what a callback calls on the very thread that waits for the callback.

Source: apache/spark@v4.2.0 and v4.3.0, ``Analyzer.ResolveRelations``, ``RelationResolution``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge

_READS = "RelationResolution.tryResolvePersistent"
_COMMANDS = "lookupTableOrView"


def reads_rows(bridge: Bridge) -> bool:
    """Tell whether the running callback resolves a relation of a query, to read its rows."""
    stack = _stack(bridge)
    reads, commands = stack.indexOf(_READS), stack.indexOf(_COMMANDS)
    return reads >= 0 and not 0 <= commands < reads  # the inner caller comes first


def statement(bridge: Bridge) -> str:
    """Return the SQL text that is being resolved; "" for the DataFrame API."""
    origin = bridge.java_class("org.apache.spark.sql.catalyst.trees.CurrentOrigin").get()
    text = origin.sqlText()
    return str(text.get()) if text.isDefined() else ""


def _stack(bridge: Bridge) -> Any:
    """Return the calling thread's stack as a Java ``StringBuffer``.

    It is searched over there: an answer of more than 8 KB costs 40 ms (two packets, of which the
    second waits for the acknowledgement of the first).
    """
    text = bridge.jvm.java.io.StringWriter()
    bridge.jvm.java.lang.Throwable().printStackTrace(bridge.jvm.java.io.PrintWriter(text))
    return text.getBuffer()
