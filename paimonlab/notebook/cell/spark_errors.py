"""What Spark or paimonlab reported about a failed statement, as an error with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from py4j.protocol import Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException, QueryContextType

from paimonlab.errors import PaimonError, close_matches, without_database
from paimonlab.notebook.cell.query_error import QueryError, of_paimon
from paimonlab.notebook.cell.statements import SentText, Statement
from paimonlab.notebook.cell.topics import Topic
from paimonlab.spark.jvm.inside_names import shown_names
from paimonlab.spark.sessions.remote import has_lost_server
from paimonlab.spec.sql_text.guesses import guess
from paimonlab.spec.sql_text.habit_hints import habit_hint
from paimonlab.spec.sql_text.insert_columns import columns_advice
from paimonlab.spec.sql_text.tokens import Span, Token, offset_of
from paimonlab.table.system import SYSTEM_TABLES

_POSITION = re.compile(r"\bline (\d+),? pos (\d+)")
_NOISE = re.compile(
    r"\s*(?:SQLSTATE:|== SQL|Search path:|Verify the spelling|JVM stack"
    r"|If you did not qualify|If the schema is inferred).*",
    re.DOTALL,
)
_SUGGESTION = re.compile(r"\s*Did you mean (?:one of the following\?|['`]).*", re.DOTALL)
_MOST_CAUSES = 50
_OF_CALLS = {
    "UNRECOGNIZED_PARAMETER_NAME": "argumentName",
    "REQUIRED_PARAMETER_NOT_FOUND": "routineName",
}
"""What Spark says of arguments without their place, and the parameter that names what is wrong."""
_INSERTED = "INSERT_COLUMN_ARITY_MISMATCH"
KnownTables = Callable[[], Sequence[str]]


def explain(
    error: Exception, statement: Statement, sent: SentText, known_tables: KnownTables
) -> QueryError | None:
    """Turn what a statement failed with into a short error; None if it is a bug.

    Parameters
    ----------
    error
        What ``spark.sql`` or fetching raised.
    statement
        The statement as the user wrote it.
    sent
        The text Spark got for it; its positions are turned into the user's.
    known_tables
        Lists ``database.table`` names for suggestions; only called when a table is missing.
    """
    match error:
        case PaimonError():
            return of_paimon(error, statement)
        case PySparkException():
            return _explain_spark(error, statement, sent, known_tables)
        case Py4JJavaError():  # thrown by Java code that names no condition
            return QueryError(_java_message(error), topic="errors", statement=statement)
        case Py4JNetworkError() | ConnectionRefusedError():
            return QueryError(
                "Spark's JVM does not answer any more.",
                topic="errors",
                statement=statement,
                hint="Restart the kernel, then connect again.",
            )
        case _:
            return None


def _explain_spark(
    error: PySparkException, statement: Statement, sent: SentText, known_tables: KnownTables
) -> QueryError:
    if has_lost_server(error):
        return QueryError(
            "The Spark Connect server does not answer any more.",
            topic="connections",
            statement=statement,
            hint="When it answers again: %paimon_connect --close NAME, then --use NAME",
        )
    span = _narrowed(_spark_span(error, sent), error, statement)
    condition, state = error.getCondition() or "", error.getSqlState() or ""
    if condition.startswith("_LEGACY_ERROR_TEMP"):  # a number that tells nobody anything
        condition = ""
    return QueryError(
        _message(error),
        topic=_topic(error),
        statement=statement,
        span=span,
        hint=_hint(error, statement, span, known_tables),
        condition=", ".join(part for part in (condition, state) if part),
    )


def _java_message(error: Py4JJavaError) -> str:
    """Return the message of the innermost cause of a Java exception."""
    cause = error.java_exception
    for _ in range(_MOST_CAUSES):
        deeper = cause.getCause()
        if deeper is None:
            break
        cause = deeper
    name, message = cause.getClass().getSimpleName(), cause.getMessage()
    return shown_names(" ".join(f"{name}: {message}".split())) if message else str(name)


def _topic(error: PySparkException) -> Topic:
    condition = error.getCondition() or ""
    if condition in _OF_CALLS:
        return "call"
    if "PARAMETER" in condition:
        return "parameters"
    is_name = re.match("TABLE_OR_VIEW|SCHEMA_NOT_FOUND|UNRESOLVED_COLUMN", condition)
    return "tables" if is_name else "sql"


def _message(error: PySparkException) -> str:
    """Take the sentences that say what is wrong, without plans, stacks and repeated SQL."""
    parameters = error.getMessageParameters() or {}
    if "traceback" in parameters:  # a Python function in a worker: its last line says it
        last = parameters["traceback"].strip().rpartition("\n")[2]
        return f"A Python function of the query failed: {last}"
    text = re.sub(r"^\s*\[[A-Z0-9_.]+\]\s*", "", str(error))
    said = " ".join(_SUGGESTION.sub("", _NOISE.sub("", text)).split())
    return shown_names(said) or type(error).__name__


def _spark_span(error: PySparkException, sent: SentText) -> Span | None:
    """Find out where in the cell the error is: by its context, else by line and position."""
    for context in error.getQueryContext():
        is_ours = context.contextType() == QueryContextType.SQL and not context.objectType()
        if is_ours and 0 <= context.startIndex() <= context.stopIndex() < len(sent.text):
            begin, last = context.startIndex(), context.stopIndex()
            return Span(sent.cell_offset(begin), sent.cell_offset(last) + 1)
    if match := _POSITION.search(str(error)):
        offset = offset_of(sent.text, int(match[1]), int(match[2]))
        word = re.compile(r"\w+|\W|$").match(sent.text, offset)
        length = max(len(word[0]), 1) if word else 1
        return Span(sent.cell_offset(offset), sent.cell_offset(offset) + length)
    return None


def _narrowed(span: Span | None, error: PySparkException, statement: Statement) -> Span | None:
    """Point to the name that is wrong, where Spark points to the whole INSERT or to nothing."""
    parameters = error.getMessageParameters() or {}
    condition = error.getCondition() or ""
    is_whole = span is not None and span.start == statement.tokens[0].start
    if not is_whole and (span is not None or condition not in _OF_CALLS):
        return span
    key = "objectName" if span is not None else _OF_CALLS[condition]
    name = parameters.get(key, "").rpartition("`.`")[2].strip("`").lower()
    tokens = [
        token
        for token in statement.tokens
        if token.text.strip("`").lower() == name
        and (span is None or (span.start <= token.start and token.end <= span.end))
    ]
    return Span(tokens[0].start, tokens[0].end) if len(tokens) == 1 else span


def _hint(
    error: PySparkException, statement: Statement, span: Span | None, known_tables: KnownTables
) -> str:
    if habit := habit_hint(statement.tokens):
        return habit
    parameters = error.getMessageParameters() or {}
    condition = error.getCondition() or ""
    if condition.startswith("UNRESOLVED_COLUMN") and _merges_all(statement.tokens):
        return "UPDATE SET * and INSERT * take every column of the table: name those the source has"
    if "proposal" in parameters:
        proposed = shown_names(parameters["proposal"]).split(", ")
        return _proposed(proposed, parameters.get("objectName", ""))
    if condition == "TABLE_OR_VIEW_NOT_FOUND":
        return _close_tables(parameters.get("relationName", ""), known_tables())
    if condition == "PARSE_SYNTAX_ERROR" and span is not None:
        return guess(statement.tokens, span.start)
    return _inserted(parameters) if condition.startswith(_INSERTED) else ""


def _inserted(parameters: Mapping[str, str]) -> str:
    """Say which columns an INSERT lacks or has too many."""
    if not {"dataColumns", "tableColumns"} <= parameters.keys():
        return ""
    table = ".".join(parameters.get("tableName", "").replace("`", "").split(".")[-2:])
    given, wanted = (
        [name.strip("`") for name in parameters[key].split(", ")]
        for key in ("dataColumns", "tableColumns")
    )
    return columns_advice(table, given, wanted)


def _merges_all(tokens: Sequence[Token]) -> bool:
    """Tell whether a MERGE sets all columns at once.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> _merges_all(tokenize("MERGE INTO t USING s ON true WHEN MATCHED THEN UPDATE SET *"))
    True
    >>> _merges_all(tokenize("SELECT * FROM t"))
    False
    """
    words = [token.text.upper() for token in tokens]
    return words[:1] == ["MERGE"] and any(
        pair in (("SET", "*"), ("INSERT", "*")) for pair in pairwise(words)
    )


def _proposed(names: Sequence[str], asked: str) -> str:
    """Name first what begins as the name that was asked for, as a name that was not quoted does."""
    begin = asked.rpartition("`.`")[2].strip("`").lower()
    quoted = [name for name in names if name.rpartition("`.`")[2].lower().startswith(f"`{begin} ")]
    quoted = quoted or [name for name in names if name.lower().startswith(f"`{begin} ")]
    shown = [*quoted, *(name for name in names if name not in quoted)][:3]
    return f"Did you mean {' or '.join(shown)}?"


def _close_tables(relation: str, known: Sequence[str]) -> str:
    """Compare as many parts of the names as the user wrote."""
    parts = [part.strip("`") for part in relation.split(".")]
    table, _, system_table = ".".join(parts[-2:]).partition("$")
    if len(parts) == 1:
        close = without_database(table, known)
        return close.strip() or "%paimon_tables lists the tables."
    if table in known:
        close = close_matches(system_table, SYSTEM_TABLES)
        return f"There is no system table ${system_table}.{close} See %paimon_help system tables."
    return close_matches(table, known).strip() or "%paimon_tables lists the tables."
