"""Spark's protocol <-> ours: `connect` puts a Paimon catalog into a Spark session, no JAR.

Knows pyspark and py4j, and of paimonlab everything down from the catalog; must not know IPython.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paimonlab.spark.sessions.server import serve as serve
    from paimonlab.spark.sessions.session import connect as connect

__all__ = ["connect", "serve"]


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: `paimonlab.spark.java` runs without pyspark."""
    if name == "connect":
        from paimonlab.spark.sessions.session import connect  # noqa: PLC0415

        return connect
    if name == "serve":
        from paimonlab.spark.sessions.server import serve  # noqa: PLC0415

        return serve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
