"""Java classes by their names, each of which the JVM is asked for once.

py4j asks the JVM of each part of ``java.util.ArrayList`` whether it is a class. What is none is
looked for in all of Spark's jars, 300 of them, and for a first part like ``java`` in each of a
dozen packages: a third of the processor time of a small statement. Here the names of packages are
told by their lower case; classes and their static methods are remembered, for PySpark as well.

Source: py4j 0.10.9.9 ``JVMView``, ``JavaClass``, ``TypeUtil.forName``.
"""

from __future__ import annotations

import weakref
from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView

_PACKAGES = ("java", "py4j")
"""Those whose classes begin with a capital letter, unlike Spark's ``functions``."""


class KnownClass(JavaClass):  # type: ignore[misc]  # py4j has no types
    """A class that is asked for each of its static methods once."""

    def __getattr__(self, name: str) -> Any:
        """Look up a static member; values of fields may change, but for Scala's only object."""
        found = super().__getattr__(name)
        if isinstance(found, JavaMember) or name == "MODULE$":
            setattr(self, name, found)
        return found


class KnownView(JVMView):  # type: ignore[misc]
    """A JVM that is asked for each class once."""

    def __getattr__(self, name: str) -> Any:
        """Look up a class by its full name."""
        found = super().__getattr__(name)
        if isinstance(found, JavaClass):
            found = KnownClass(found._fqn, found._gateway_client)
            setattr(self, name, found)
        return found


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

    PySpark gets them, too: it asks for a class in most of its functions of columns, and py4j's own
    one a dozen times what an error is.
    """
    if gateway not in _known:
        gateway.jvm.__class__ = KnownView
        names = _known[gateway] = JavaNames(gateway.jvm)
        vars(gateway.jvm).update({name: getattr(names, name) for name in _PACKAGES})
    return _known[gateway]
