"""Spark's protocol <-> ours: `connect` puts a Paimon catalog into a Spark session, no JAR.

Knows pyspark and py4j, and of paimonlab everything down from the catalog; must not know IPython.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.spark import listening as listening
    from paimonlab.spark import session_options as session_options
    from paimonlab.spark.sessions.server import serve
    from paimonlab.spark.sessions.session import connect

__all__ = ["connect", "serve"]

__getattr__, __dir__ = attributes_on_use(
    __name__, "listening", "session_options", connect="sessions.session", serve="sessions.server"
)
