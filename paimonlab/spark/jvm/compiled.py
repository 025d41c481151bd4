"""Java classes that are compiled in the driver's JVM, by the Janino that Spark ships.

Spark wants abstract classes extended here and there, which a dynamic proxy cannot do, and tens of
thousands of objects at once, for which a call each takes too long. Such classes are a few lines
and exist in the driver only.
"""

from __future__ import annotations

import weakref
from threading import Lock
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge

PACKAGE = "org.paimonlab.spark"
"""Of the classes that are compiled."""
_JAVA_8 = 8
"""Calls of static methods of interfaces need it."""
_lock = Lock()
_loaders: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
"""Class loaders of each Spark application, by what they were compiled from."""
_constructors: weakref.WeakKeyDictionary[Any, dict[tuple[str, str], Any]] = (
    weakref.WeakKeyDictionary()
)
"""What was found in them, by the source and the name of the class."""


def constructor(bridge: Bridge, source: str, name: str) -> Any:
    """Return the first constructor of a class; its source is compiled once for an application.

    Parameters
    ----------
    bridge
        The session.
    source
        A Java compilation unit in `PACKAGE`, without generics.
    name
        Of the class, as ``Outer$Inner`` if it is inside of another one.

    Returns
    -------
    Java object
        A ``java.lang.reflect.Constructor``.
    """
    with _lock:
        context = bridge.spark.sparkContext
        known = _constructors.setdefault(context, {})
        if (source, name) in known:
            return known[source, name]
        loaders = _loaders.setdefault(context, {})
        if source not in loaders:
            compiler = bridge.java_class("org.codehaus.janino.SimpleCompiler")()
            thread = bridge.jvm.java.lang.Thread.currentThread()
            compiler.setParentClassLoader(thread.getContextClassLoader())
            compiler.setTargetVersion(_JAVA_8)
            compiler.cook(source)
            loaders[source] = compiler.getClassLoader()
        found = loaders[source].loadClass(f"{PACKAGE}.{name}").getConstructors()
        return known.setdefault((source, name), found[0])


def new(bridge: Bridge, source: str, name: str, *arguments: Any) -> Any:
    """Make an object of a class that `constructor` finds."""
    return constructor(bridge, source, name).newInstance(bridge.list(arguments).toArray())
