"""Which statements of a cell start jobs that read changes, and who may run them."""

from __future__ import annotations

from paimonlab.ingest.source_names import is_source
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement
from paimonlab.spec.sql_text.ingest_syntax import IngestStatement, parse_ingest_statement
from paimonlab.spec.sql_text.reader import StatementSyntaxError


def ingest_statement(statement: Statement) -> IngestStatement | None:
    """Read a statement that makes tables follow those of a source; None: it is another one.

    Raises
    ------
    QueryError
        If it begins like one and goes on otherwise.
    """
    words = [token.text.upper() for token in statement.tokens[:3]]
    if words == ["BEGIN", "STATEMENT", "SET"]:
        raise QueryError(
            "BEGIN STATEMENT SET is not supported.",
            topic="ingest",
            statement=statement,
            hint="Each statement is a job of its own; CREATE DATABASE … AS DATABASE reads many "
            "tables in one.",
        )
    try:
        return parse_ingest_statement(statement.tokens, statement.cell, is_source)
    except StatementSyntaxError as error:
        raise QueryError(
            str(error), topic="ingest", statement=statement, span=error.span
        ) from error


def check_engine(statement: Statement, engine: str) -> None:
    """Refuse a statement for Spark that only this process can run.

    Raises
    ------
    QueryError
        If Spark was asked for.
    """
    if engine in ("spark", "connect"):
        raise QueryError(
            f"{statement.title} … AS {statement.title.rpartition(' ')[2]} starts an ingest job, "
            "which runs in this process, not on Spark.",
            topic="ingest",
            statement=statement,
            hint="--engine native runs it; Spark reads its tables as they grow.",
        )
