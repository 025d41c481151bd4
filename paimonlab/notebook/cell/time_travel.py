"""``--as-of``: all Paimon tables of a query at one point in time.

Spark reads the session's ``spark.paimon.scan.…`` options while it looks tables up; the tables that
it has found stay at that point, also in a DataFrame that is run later. A Spark Connect server
looks them up whenever rows are fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING

from paimonlab import spark as spark_layer
from paimonlab.errors import UnsupportedError
from paimonlab.notebook.cell.parameters import Values
from paimonlab.notebook.cell.query_error import QueryError, check_query
from paimonlab.notebook.cell.statements import Statement
from paimonlab.spark import reading, sessions
from paimonlab.spec.sql_text.tokens import Span, Token, TokenKind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOMENT = re.compile(r"\d{4}-\d{1,2}-\d{1,2}\b.*")


def is_moment(point: str) -> bool:
    """Tell whether a text is a date or a timestamp, not the name of a tag."""
    return _MOMENT.fullmatch(point) is not None


def check_travels(statement: Statement, args: Values) -> None:
    """Check that all of a statement can be read at another time.

    Raises
    ------
    QueryError
        If it is not a query, or reads a system table, which is always as of now.
    """
    check_query("--as-of", statement, "time travel")
    token = _system_table(statement, args)
    if token is not None:
        raise QueryError(
            "A system table is read as it is now.",
            topic="time travel",
            statement=statement,
            span=Span(token.start, token.end),
            hint="Run it in a cell without --as-of.",
        )


def _system_table(statement: Statement, args: Values) -> Token | None:
    for token in statement.tokens:
        is_name = token.kind is not TokenKind.STRING
        if is_name and ("$" in token.text or token.text.strip("`").lower() == "sys"):
            return token
        if token.text.upper() == "IDENTIFIER":
            texts = [part.text for part in statement.tokens if part.kind is TokenKind.STRING]
            values = args.values() if isinstance(args, Mapping) else args
            texts += [value for value in values if isinstance(value, str)]
            if any("$" in text or text.lower().startswith("sys.") for text in texts):
                return token
    return None


class Turns:
    """Lets many work together, or one alone: options of a session are seen by all who use it.

    A query that was interrupted may still be looking its tables up; whoever comes next waits.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._together = 0
        self._is_alone = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """Work beside others, while nobody works alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_alone)
            self._together += 1
        try:
            yield
        finally:
            with self._changed:
                self._together -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Work when nobody else does."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_alone and not self._together)
            self._is_alone = True
        try:
            yield
        finally:
            with self._changed:
                self._is_alone = False
                self._changed.notify_all()


_turns = Turns()


@contextmanager
def travelling(
    spark: SparkSession, statement: Statement, args: Values, as_of: int | str | None
) -> Iterator[None]:
    """Let Spark look tables up at a point in time; None: now.

    Raises
    ------
    QueryError
        As `check_travels` does.
    """
    if as_of is None:
        with _turns.together():
            yield
        return
    check_travels(statement, args)
    with _turns.alone():
        yield from _with_options(spark, as_of)


def _with_options(spark: SparkSession, as_of: int | str) -> Iterator[None]:
    _check_server_travels(spark)
    key, value = _option(spark, as_of)
    before = {
        option: spark.conf.get(spark_layer.session_options.PREFIX + option, None)
        for option in reading.time_travel.TRAVEL_OPTIONS
    }
    try:
        for option in reading.time_travel.TRAVEL_OPTIONS:
            spark.conf.unset(spark_layer.session_options.PREFIX + option)
        spark.conf.set(spark_layer.session_options.PREFIX + key, value)
        yield
    finally:
        spark.conf.unset(spark_layer.session_options.PREFIX + key)
        for option, old in before.items():
            if old is not None:
                spark.conf.set(spark_layer.session_options.PREFIX + option, old)


def _check_server_travels(spark: SparkSession) -> None:
    """Check that the tables of a Spark Connect server read these options at all."""
    if not sessions.remote.is_remote(spark):
        return
    name = spark.catalog.currentCatalog()
    if spark.conf.get(sessions.remote.CATALOG_KEY, None) != name:
        raise UnsupportedError(
            f"--as-of in catalog {name} of a Spark Connect server that paimonlab does not serve",
            "write VERSION AS OF after the table's name",
        )


def _option(spark: SparkSession, as_of: int | str) -> tuple[str, str]:
    if isinstance(as_of, int):
        return "scan.snapshot-id", str(as_of)
    if not is_moment(as_of):
        return "scan.tag-name", as_of
    # In the session's time zone, as TIMESTAMP AS OF reads it.
    row = spark.sql(
        "SELECT unix_millis(CAST(:moment AS TIMESTAMP))", args={"moment": as_of}
    ).first()
    assert row is not None, "a query without FROM has a row"
    if row[0] is None:
        message = f"--as-of {as_of!r} is not a moment: write '2026-01-31 12:00:00'"
        raise QueryError(message, topic="time travel")
    return "scan.timestamp-millis", str(row[0])
