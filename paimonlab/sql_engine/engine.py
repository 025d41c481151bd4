"""Run a query: translated, planned, computed by DuckDB."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import PaimonError
from paimonlab.progress import Progress
from paimonlab.spec.sql_text.tokens import TokenKind, tokenize
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.sql_engine import row_hashes
from paimonlab.sql_engine.explaining import COLUMN as EXPLAINED
from paimonlab.sql_engine.explaining import (
    NO_BITS,
    ReadTable,
    explained_query,
    explanation,
    plan_text,
)
from paimonlab.sql_engine.failures import NOT_PROVEN, told
from paimonlab.sql_engine.given import Given
from paimonlab.sql_engine.kinds import STRING, IntervalType, Kind, VoidType, simple_type
from paimonlab.sql_engine.listings import described, listing
from paimonlab.sql_engine.queries import QueryTranslator
from paimonlab.sql_engine.refusal import (
    NotTranslatedError,
    StatementFailedError,
    told_of_habits,
)
from paimonlab.sql_engine.refused_changes import told_of_merges
from paimonlab.sql_engine.rows import Part
from paimonlab.sql_engine.statements.calls import described_query
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import parse
from paimonlab.sql_engine.value import quoted

NAME = "DuckDB, without Spark"
"""What this engine is called."""
_POLL_SECONDS = 0.05
BATCH_ROWS = 1 << 17
_DAYS = "to_date(text, 'dd.MM.yyyy') reads other dates"
_HINTS = {
    "CAST of such a text": f"try_cast(…) gives NULL where a text is no number; {_DAYS}",
    "TRY_CAST of such a text": f"Numbers are written 12.5, dates 2026-01-31; {_DAYS}",
    "such a DOUBLE as text": (
        "Numbers of 0.001 to 10,000,000 with up to 15 digits are written; "
        "CAST(round(x, 2) AS DECIMAL(12, 2)) writes others"
    ),
    **{
        f"{name}() of such characters": "Some letters of a text Java and DuckDB may take "
        "differently, as ß, İ or a letter with an accent of its own"
        for name in ("upper", "ucase", "lower", "lcase", "initcap", "reverse")
    },
    "a day in such a text": f"Dates are written 2026-01-31; {_DAYS}",
    "to_date() of such a text": "Text and pattern fit in to_date('31.01.2026', 'dd.MM.yyyy')",
    "from_json() of such a JSON": (
        "try_cast(get_json_object(text, '$.name') AS INT) gives NULL where a value is of "
        "another type"
    ),
    "to_timestamp() of such a text": "Times are written 2026-01-31 12:00:00",
}
"""What to write instead, by what turned out not to be proven."""


@dataclass(frozen=True)
class EngineOptions:
    """How much a query may take."""

    memory: str = "50%"
    """Of memory, as DuckDB reads it: a share of the machine's, or ``2GB``."""
    threads: int | None = None
    """None: one per CPU."""

    @classmethod
    def of(cls, options: Mapping[str, str]) -> EngineOptions:
        """Take them from the options of a catalog."""
        return cls(memory=options.get("sql.memory", cls.memory))


@dataclass(frozen=True, slots=True)
class Planned:
    """A query that can be run."""

    text: str
    """In DuckDB's SQL."""
    columns: Sequence[tuple[str, Kind]]
    """Names and types as Spark has them."""
    parts: Sequence[Part] = field(repr=False)
    shown: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names of columns by those that they have in ``text``, for messages."""
    tables: Sequence[ReadTable] = field(default=(), repr=False)
    """What it reads."""
    sql: str = field(default="", repr=False)
    """``text`` with tables by their names."""
    quoted_column: str = field(default="", repr=False)
    """What is said of a text that has the name of a column, if a text cannot be read."""

    @property
    def types(self) -> list[str]:
        """Types of the columns, as Spark names them."""
        return [simple_type(kind) for _, kind in self.columns]

    @property
    def read(self) -> tuple[str, ...]:
        """What is read, as ``db.t@5``."""
        return tuple(dict.fromkeys(part.label for part in self.parts if part.label))

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the result."""
        return pa.schema([pa.field(name, _arrow(kind)) for name, kind in self.columns])


def plan(
    text: str | exp.Expression,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any] = (),
    *,
    most: int | None = None,
) -> Planned:
    """Translate a query and find its files.

    Parameters
    ----------
    text
        In Spark's dialect; names with ``$`` are in back-quotes.
    sources
        What it may read.
    values
        Of its parameters.
    most
        How many rows are wanted at most; None: all.

    Raises
    ------
    NotTranslatedError
        If a part of it is not proven to give Spark's rows.
    """
    if isinstance(text, str):
        explained = explained_query(text)
        if explained is not None:
            return _explained_plan(plan(explained, sources, values))
        text = described_query(text, sources) or text
        with told_of_merges(text, sources), told_of_habits(text):
            return _plan(parse(text), text, sources, values, most)
    return _plan(text, text, sources, values, most)


def _plan(
    tree: exp.Expression,
    text: str | exp.Expression,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    most: int | None,
) -> Planned:
    translated = listing(tree, sources)
    queries = QueryTranslator(sources, Given(values))
    try:
        if isinstance(tree, exp.Describe) and isinstance(tree.this, exp.Query):
            inner: exp.Expression = tree.args["this"]
            translated = described(tree, queries.query(inner), sources)
        if translated is None:
            translated = queries.query(tree, most=most)
    except NotTranslatedError as error:
        error.hint = _quoted_column(text, sources) or error.hint
        raise
    whole, parts = sources.planned(translated.text)
    shown, sql = tuple(sources.shown), sources.named_text
    quoted_column = _quoted_column(text, sources)
    return Planned(whole, translated.columns, parts, queries.shown(), shown, sql, quoted_column)


def _explained_plan(planned: Planned) -> Planned:
    """Plan the answer of EXPLAIN, a text."""
    query = f"SELECT {quoted(plan_text(planned.parts, _drawn(planned)))} AS {EXPLAINED}"
    return Planned(query, [(EXPLAINED, STRING)], ())


def explain(planned: Planned) -> str:
    """Say what a query reads, its SQL, and how DuckDB computes it; nothing is run.

    Raises
    ------
    StatementFailedError
        If DuckDB does not take it.
    """
    drawn = _drawn(planned)
    return explanation(planned.tables, planned.sql, planned.parts, drawn, NAME)


def _drawn(planned: Planned) -> str:
    """Return DuckDB's plan."""
    parts = [part if part.bits is None else replace(part, bits=NO_BITS) for part in planned.parts]
    database = connected(parts, EngineOptions(), planned.text)
    try:
        drawn = database.execute(f"EXPLAIN {planned.text}").fetchall()
    except duckdb.Error as error:
        raise _explained(error, planned) from error
    finally:
        database.close()
    return "\n".join(str(row[-1]) for row in drawn)


def _quoted_column(text: str | exp.Expression, sources: Sources) -> str:
    """Look for the name of a column between quotes that make it a text; empty: there is none."""
    if not isinstance(text, str):
        return ""
    names = {name for reading in sources.readings for name in reading.indexes}
    for token in tokenize(text):
        name = token.text[1:-1]
        if token.kind is TokenKind.STRING and token.text[0] == '"' and name in names:
            return f'"{name}" is a text in Spark\'s SQL; a column is written `{name}`'
    return ""


def run(
    planned: Planned, options: EngineOptions | None = None, progress: Progress | None = None
) -> pa.Table:
    """Run a query.

    Parameters
    ----------
    planned
        From `plan`.
    options
        How much it may take.
    progress
        Called now and then; what it raises ends the query.

    Raises
    ------
    StatementFailedError
        If a value cannot be computed, or there is not enough memory.
    NotTranslatedError
        If a value turned up for which the result is not proven to be Spark's.
    """
    database = connected(planned.parts, options or EngineOptions(), planned.text)
    try:
        if progress is None:
            return _fetched(database, planned)
        return _watched(database, planned, progress)
    finally:
        database.close()


def connected(
    parts: Sequence[Part], options: EngineOptions, text: str = ""
) -> duckdb.DuckDBPyConnection:
    """Open a database in memory for a statement; it can read these parts and nothing else."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": "",  # nothing is written to disk
        "python_enable_replacements": "false",
        "memory_limit": options.memory,
    }
    if options.threads is not None:
        config["threads"] = str(options.threads)
    database = duckdb.connect(":memory:", config=config)
    paths = [path for part in parts for path in part.paths]
    if paths:
        listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
        database.execute(f"SET allowed_paths = [{listed}]")
    database.execute("SET TimeZone = 'UTC'")
    # It takes `starts_with(CASE WHEN b THEN 'a' END, 'a')` for `b IS NOT NULL` (DuckDB 2.0.0).
    database.execute("SET disabled_optimizers = 'statistics_propagation'")
    for part in parts:
        if part.bits is not None:
            _set_bits(database, part.name, part.bits)
    row_hashes.register(database, text)
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    for part in parts:
        if part.stream is not None:
            database.register(part.name, part.stream)
    return database


def _set_bits(database: duckdb.DuckDBPyConnection, variable: str, bits: bytes) -> None:
    # As a parameter they take four times as long.
    database.register("bits", pa.table({"b": arrow_array([bits], pa.binary())}))
    database.execute(f"SET VARIABLE {variable} = (SELECT CAST(b AS BIT) FROM bits)")
    database.unregister("bits")


def _fetched(database: duckdb.DuckDBPyConnection, planned: Planned) -> pa.Table:
    try:
        found = database.sql(planned.text).to_arrow_table()
    except duckdb.Error as error:
        raise _explained(error, planned) from error
    return typed(found, planned)


def typed(found: pa.Table, planned: Planned) -> pa.Table:
    """Give what DuckDB computed the names and types of the query."""
    columns = [
        column if column.type == kept.type else column.cast(kept.type)
        for column, kept in zip(found.columns, planned.schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=planned.schema)


def _watched(database: duckdb.DuckDBPyConnection, planned: Planned, progress: Progress) -> pa.Table:
    """Run in a thread, so that what ``progress`` raises interrupts it."""
    done = Event()
    results: list[pa.Table] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(_fetched(database, planned))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            errors.append(error)
        finally:
            done.set()

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while not done.wait(_POLL_SECONDS):
            progress(0, 0, "")
    except BaseException:
        while not done.is_set():
            database.interrupt()
            time.sleep(_POLL_SECONDS / 5)
        raise
    finally:
        thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _explained(error: duckdb.Error, planned: Planned) -> PaimonError:
    message = told(str(error).partition("\n")[0])
    kind, _, rest = message.partition(": ")
    if NOT_PROVEN in message:
        what = message.partition(NOT_PROVEN)[2].lstrip(": ")
        hint = ("text" in what and planned.quoted_column) or _HINTS.get(what, "")
        return NotTranslatedError(what or "such a value", hint=hint)
    if "must appear in the GROUP BY" in message:
        column = planned.shown.get(message.partition('"')[2].partition('"')[0], "")
        return StatementFailedError(
            f"{column or 'a column'} is neither in GROUP BY nor within an aggregate",
            f"add it to GROUP BY, or write any_value({column or '…'}) if it does not matter which "
            "row it is of",
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return StatementFailedError(
            "the query needs more memory than it may take", "raise the option sql.memory"
        )
    if lost := _lost(planned):
        return StatementFailedError(
            f"{', '.join(lost)}: a data file is missing",
            "if the snapshot has expired while it was read, run the statement again, to read "
            "the newest one; if not, something outside Paimon deleted the file",
        )
    return StatementFailedError(rest if kind.endswith("Error") and rest else message)


def _lost(planned: Planned) -> list[str]:
    """Name what has files that are no longer there, as ``db.t@5``."""
    gone = (
        part.label for part in planned.parts if not all(Path(path).exists() for path in part.paths)
    )
    return list(dict.fromkeys(gone))


def _arrow(kind: Kind) -> pa.DataType:
    if isinstance(kind, IntervalType):
        return pa.duration("us")
    return pa.null() if isinstance(kind, VoidType) else to_arrow(kind)
