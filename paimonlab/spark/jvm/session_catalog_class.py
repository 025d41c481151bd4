"""A Java class for the catalog that stands for Spark's own one in a session.

Spark runs commands on tables and views of its own in ``spark_catalog`` only if that catalog is a
`DelegatingCatalogExtension`, which is an abstract class: no dynamic proxy can be one. So a class of
a few methods is compiled that hands every call on to the proxy. Its methods are those that the
interfaces have in the Spark at hand.

Source: apache/spark@v4.2.0 and v4.3.0 ``ResolveSessionCatalog``, ``CatalogManager``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge
from paimonlab.spark.jvm.compiled import PACKAGE, new

CLASS_NAME = "SessionCatalog"
_BASE = CONNECTOR + "catalog.DelegatingCatalogExtension"
_STATIC = 8


def session_catalog(bridge: Bridge, ours: Any, delegate: Any, interfaces: Sequence[str]) -> Any:
    """Return a catalog that hands calls on to a proxy.

    Parameters
    ----------
    bridge
        The session.
    ours
        The proxy; it answers all methods of the interfaces.
    delegate
        Spark's own catalog.
    interfaces
        Of the proxy, by full names.
    """
    made = new(bridge, _source(bridge, interfaces), CLASS_NAME, ours)
    made.setDelegateCatalog(delegate)
    return made


def is_session_catalog(java_catalog: Any) -> bool:
    """Say whether a Java object is of that class."""
    return str(java_catalog.getClass().getName()) == f"{PACKAGE}.{CLASS_NAME}"


def _source(bridge: Bridge, interfaces: Sequence[str]) -> str:
    methods = "\n".join(_methods(bridge, interfaces))
    return f"""\
package {PACKAGE};

public class {CLASS_NAME} extends {_BASE} implements {", ".join(interfaces)} {{
  private final Object ours;

  public {CLASS_NAME}(Object ours) {{
    this.ours = ours;
  }}

  public int hashCode() {{
    return this.ours.hashCode();
  }}

  public boolean equals(Object other) {{
    return other == this;
  }}

  public String toString() {{
    return this.ours.toString();
  }}
{methods}
}}
"""


def _methods(bridge: Bridge, interfaces: Sequence[str]) -> Iterator[str]:
    written: set[tuple[str, ...]] = set()
    for name in interfaces:
        for method in bridge.jvm.java.lang.Class.forName(name).getMethods():
            types = [str(one.getCanonicalName()) for one in method.getParameterTypes()]
            signature = (str(method.getName()), *types)
            if method.getModifiers() & _STATIC or signature in written:
                continue
            written.add(signature)
            yield _forwarding(method, types, name)


def _forwarding(method: Any, types: Sequence[str], interface: str) -> str:
    result = str(method.getReturnType().getCanonicalName())
    given = ", ".join(f"{one} a{place}" for place, one in enumerate(types))
    handed = ", ".join(f"a{place}" for place in range(len(types)))
    errors = ", ".join(str(one.getCanonicalName()) for one in method.getExceptionTypes())
    throws = f" throws {errors}" if errors else ""
    answer = "" if result == "void" else "return "
    return f"""
  public {result} {method.getName()}({given}){throws} {{
    {answer}(({interface}) this.ours).{method.getName()}({handed});
  }}"""
