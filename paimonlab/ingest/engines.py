"""What runs a job: this process, or Spark; and what Spark does not do."""

from __future__ import annotations

from typing import Literal, TypeAlias

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import PartitionedSource, Source
from paimonlab.ingest.controls import Pace
from paimonlab.ingest.evolution import Evolve
from paimonlab.ingest.rules import IngestRules

Engine: TypeAlias = Literal["native", "spark"]
"""This process, or executors of Spark."""

_NATIVE = "leave engine out: a job goes on with either"


def check_engine(engine: str, source: Source, rules: IngestRules, pace: Pace) -> None:
    """Make sure that an engine does what a job is told.

    Parameters
    ----------
    engine
        Its name.
    source, rules, pace
        Of the job.

    Raises
    ------
    ValueError
        If there is no such engine.
    UnsupportedError
        If it does not.
    """
    if engine == "native":
        if pace.max_stall_seconds != Pace().max_stall_seconds:
            raise UnsupportedError(
                f"max_stall = {pace.max_stall_seconds} without engine = 'spark'",
                "it is for batches of Spark; leave it out",
            )
        return
    if engine != "spark":
        raise ValueError(f"engine = {engine!r}: it is one of native, spark")
    if not isinstance(source, PartitionedSource):
        raise UnsupportedError(
            f"engine = 'spark' from {source.name}",
            f"it reads Kafka, whose partitions executors share; {_NATIVE}",
        )
    _check_rules(rules)
    _check_pace(pace)


def _check_rules(rules: IngestRules) -> None:
    if rules.evolve is Evolve.EXACT:
        raise UnsupportedError(
            "engine = 'spark' with evolve = 'exact'",
            f"partitions are read apart, so rows of old columns come after new ones; {_NATIVE}",
        )
    if rules.on_truncate == "apply":
        raise UnsupportedError(
            "engine = 'spark' with on_truncate = 'apply'",
            f"a batch has rows before and after it; {_NATIVE}",
        )
    if rules.mark:
        raise UnsupportedError(
            f"engine = 'spark' with on_delete = '{rules.on_delete}'",
            f"its tasks do not look rows up; {_NATIVE}",
        )


def _check_pace(pace: Pace) -> None:
    if pace.tags:
        raise UnsupportedError(
            f"engine = 'spark' with tags = {pace.tags}",
            f"it compacts after it has committed, and tags would lack rows; {_NATIVE}",
        )
    if pace.max_dead:
        raise UnsupportedError(
            f"engine = 'spark' with max_dead = {pace.max_dead}", f"it sets no rows aside; {_NATIVE}"
        )
    if pace.max_bytes != Pace().max_bytes:
        raise UnsupportedError(
            f"engine = 'spark' with max_bytes = {pace.max_bytes}",
            "no rows wait in memory there; max_rows limits a batch",
        )
