"""One statement that is sent to Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from paimonlab import spark as spark_layer
from paimonlab.notebook import cell, results, running
from paimonlab.notebook.cell.parameters import Bound
from paimonlab.notebook.cell.statements import Statement, quote_system_tables
from paimonlab.notebook.connections import connection as connections
from paimonlab.spark import sessions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimonlab.notebook.results.spark_fetch import Fetched

T = TypeVar("T")
_CALLING = frozenset({"CALL", "OPTIMIZE"})
"""First words of statements that run procedures."""


def looks_up_again(session: SparkSession) -> bool:
    """Tell whether a DataFrame looks its tables up whenever it is run, and not once."""
    return sessions.remote.is_remote(session)


class Answer(Struct, frozen=True):
    """What a statement gave."""

    frame: DataFrame
    rows: Fetched
    snapshots: Sequence[str]
    """``db.t@7`` of each table that a query read."""
    seconds: float
    said: str
    """What a call of a procedure did; "" otherwise."""


class OnSpark(Struct, frozen=True):
    """One statement to be sent to Spark."""

    spark: SparkSession
    statement: Statement
    args: Bound
    as_of: int | str | None

    def fetch(self, limit: int | None) -> Answer:
        """Send the statement and fetch its rows; runs in the worker thread."""
        begin = time.monotonic()
        with self._hearing() as heard:
            frame, rows = self.reading(
                lambda frame: (frame, results.spark_fetch.fetch(frame, limit=limit))
            )
        seconds = time.monotonic() - begin
        is_planned_here = self.statement.is_query and not looks_up_again(self.spark)
        snapshots = running.spark_plan.snapshots_read(frame) if is_planned_here else ()
        return Answer(frame, rows, snapshots, seconds, said="".join(heard))

    def _hearing(self) -> AbstractContextManager[Sequence[str]]:
        is_call = self.statement.tokens[0].text.upper() in _CALLING
        return spark_layer.listening.hearing(self.spark) if is_call else nullcontext(())

    def reading(self, read: Callable[[DataFrame], T]) -> T:
        """Send the statement and do something with its rows, as of the time it asks for."""
        if not looks_up_again(self.spark):
            frame = self.frame()
            return self.explained(lambda: read(frame))

        def there() -> T:
            with self._travelling():
                return read(self._send())

        return self.explained(there)

    def frame(self) -> DataFrame:
        """Send the statement; a query is not run by that."""

        def send() -> DataFrame:
            with self._travelling():
                return self._send()

        return self.explained(send)

    def _travelling(self) -> AbstractContextManager[None]:
        return cell.time_travel.travelling(self.spark, self.statement, self.args, self.as_of)

    def _send(self) -> DataFrame:
        sent = quote_system_tables(self.statement)
        if self.args:
            return self.spark.sql(sent.text, args=self.args)
        return self.spark.sql(sent.text)

    def explained(self, work: Callable[[], T]) -> T:
        """Do something with the frame; errors of Spark become those of the statement."""
        try:
            return work()
        except Exception as error:
            sent = quote_system_tables(self.statement)
            explained = cell.spark_errors.explain(
                error, self.statement, sent, partial(_known_tables, self.spark)
            )
            if explained is None:
                raise
            raise explained from error


def _known_tables(spark: SparkSession) -> Sequence[str]:
    if connections.is_connected() and connections.current().spark is spark:
        return connections.current().known_tables()
    rows = spark.sql("SHOW TABLES").collect()
    return [f"{row['namespace']}.{row['tableName']}" for row in rows]
