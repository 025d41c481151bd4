"""Run statements: on Spark, or without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.running import ingest_jobs as ingest_jobs
    from paimonlab.notebook.running import native_sql as native_sql
    from paimonlab.notebook.running import spark_plan as spark_plan
    from paimonlab.notebook.running import streams as streams

__getattr__, __dir__ = attributes_on_use(
    __name__, "ingest_jobs", "native_sql", "spark_plan", "streams"
)
