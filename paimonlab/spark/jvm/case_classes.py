"""Copies of plans of Spark, which are case classes of Scala."""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge


def copied(bridge: Bridge, of: Any, **changed: Any) -> Any:
    """Return a copy of an object of a case class with other values for some of its fields.

    Parameters
    ----------
    bridge
        The session.
    of
        The object.
    **changed
        By the names of the fields; releases of Spark have different ones beside them.
    """
    names = [str(of.productElementName(number)) for number in range(of.productArity())]
    values = [changed.get(name, of.productElement(at)) for at, name in enumerate(names)]
    constructor = next(
        found
        for found in of.getClass().getConstructors()
        if found.getParameterCount() == len(values)
    )
    return constructor.newInstance(bridge.list(values).toArray())
