"""Java classes by their names, each of which the JVM is asked for once.

py4j asks the JVM of each part of ``java.util.ArrayList`` whether it is a class. What is none is
looked for in all of Spark's jars, 300 of them, and for a first part like ``java`` in each of a
dozen packages: a third of the processor time of a small statement. Here the names of packages are
told by their lower case, and classes are remembered.

Source: py4j 0.10.9.9 ``JVMView``, ``TypeUtil.forName``.
"""

from __future__ import annotations

import weakref
from typing import Any

from py4j.java_gateway import JavaPackage


class JavaNames:
    """A package of a JVM, or all of them; its attributes are packages and classes.

    Parameters
    ----------
    jvm
        py4j's own view.
    package
        Its name with a dot at the end; the empty text for all.
    """

    def __init__(self, jvm: Any, package: str = "") -> None:
        self._jvm = jvm
        self._package = package

    def __getattr__(self, name: str) -> Any:
        """Look up a class by a name that does not begin with a small letter, or has dots."""
        if name.startswith("__"):
            raise AttributeError(name)
        full_name = f"{self._package}{name}"
        if name[0].islower() and "." not in name:
            found: Any = JavaNames(self._jvm, f"{full_name}.")
        else:
            found = getattr(self._jvm, full_name)
        if not isinstance(found, JavaPackage):  # what is no class now may be one later
            vars(self)[name] = found
        return found


_known: weakref.WeakKeyDictionary[Any, JavaNames] = weakref.WeakKeyDictionary()


def names_of(gateway: Any) -> JavaNames:
    """Return the classes of a gateway's JVM, the same ones for all that ask.

    PySpark has a part of them, too: it asks py4j's own class a dozen times what an error is.
    """
    if gateway not in _known:
        names = _known[gateway] = JavaNames(gateway.jvm)
        gateway.jvm.py4j = names.py4j
    return _known[gateway]
