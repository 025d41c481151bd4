"""What runs a job: this process, or Spark; and what Spark does not do."""

from __future__ import annotations

from typing import Literal, TypeAlias

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import PartitionedSource, Source
from paimonlab.ingest.controls import Pace

Engine: TypeAlias = Literal["native", "spark"]
"""This process, or executors of Spark."""

_NATIVE = "leave engine out: a job goes on with either"


def check_engine(engine: str, source: Source, pace: Pace) -> None:
    """Make sure that an engine does what a job is told.

    Parameters
    ----------
    engine
        Its name.
    source, pace
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
