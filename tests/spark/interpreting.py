"""Settings of sessions whose tests are not about how Spark runs a query."""

from __future__ import annotations

from collections.abc import Mapping

INTERPRETED: Mapping[str, str] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Spark makes no Java of each query then: it answers the same, and need not compile."""
