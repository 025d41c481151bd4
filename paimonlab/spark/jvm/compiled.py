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

_JAVA_8 = 8
"""Calls of static methods of interfaces need it."""
_lock = Lock()
_loaders: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
"""Class loaders of each Spark application, by what they were compiled from."""


def java_constructor(bridge: Bridge, source: str, name: str) -> Any:
    """Return the first constructor of a class; its source is compiled once for an application.

    Parameters
    ----------
    bridge
        The session.
    source
        A Java compilation unit, without generics.
    name
        Full name of the class.
    """
    with _lock:
        loaders = _loaders.setdefault(bridge.spark.sparkContext, {})
        if source not in loaders:
            compiler = bridge.java_class("org.codehaus.janino.SimpleCompiler")()
            thread = bridge.jvm.java.lang.Thread.currentThread()
            compiler.setParentClassLoader(thread.getContextClassLoader())
            compiler.setTargetVersion(_JAVA_8)
            compiler.cook(source)
            loaders[source] = compiler.getClassLoader()
        return loaders[source].loadClass(name).getConstructors()[0]


def new(bridge: Bridge, constructor: Any, *arguments: Any) -> Any:
    """Make an object with a constructor of `java_constructor`."""
    return constructor.newInstance(bridge.list(arguments).toArray())
