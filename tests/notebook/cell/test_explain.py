from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.errors import ColumnNotFoundError, SnapshotNotFoundError, TableNotFoundError
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.spark_errors import explain
from paimonlab.notebook.cell.statements import quote_system_tables, split
from paimonlab.notebook.commands import sql
from paimonlab.notebook.display.characters import text_width

TABLES = ["air.flights", "air.carriers"]


def lines(spark: SparkSession, text: str, **args: object) -> list[str]:
    with pytest.raises(QueryError) as caught:
        sql(text, args=args, spark=spark)
    return caught.value.lines()


@pytest.mark.parametrize(
    ("text", "marked", "hint"),
    [
        ("SELCT 1", "SELCT", "Did you mean SELECT instead of SELCT?"),
        ("SELECT 1\n FORM range(3)", "range", "Did you mean FROM instead of FORM?"),
        ("SELECT id,\n  idd\nFROM range(3)", "idd", "Did you mean `id`?"),
        ("SELECT 'abc\nFROM range(3)", "'", "The quote ' that begins here is never closed."),
        ("SELECT * FROM range(3) WHERE 1/0 = id", "1/0", None),
        ("SELECT CAST('x' AS INT)", "CAST('x' AS INT)", None),
        ("SELECT nosuch(id) FROM range(3)", "nosuch(id)", None),
        ("SELECT '😀', a FROM range(3) WHERE idd = :x", "idd", None),
        ("SELECT 1 FROM a$b WHERE x =", "", None),
        ("/* c */ SELECT `x`$y.z, qq FROM range(2)", "`x`$y.z", None),
    ],
)
def test_the_caret_stands_where_the_user_wrote_it(
    spark: SparkSession, text: str, marked: str, hint: str | None
) -> None:
    shown = lines(spark, text, x=1)

    carets = next(
        number for number, line in enumerate(shown) if set(line) <= set(" |^") and "^" in line
    )
    assert over(shown[carets - 1], shown[carets]) == marked
    if hint is not None:
        assert shown[-1] == hint
    assert len(shown) <= 7


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("MSCK REPAIR TABLE air.flights", "Nothing is to be done"),
        ("DESCRIBE DETAIL air.flights", "Write DESCRIBE EXTENDED"),
        ("SELECT * FROM table_changes('air.flights', 1)", "paimon_incremental_query"),
        ("SELECT * FROM 'sales.csv'", "COPY INTO db.t FROM 'sales.csv'"),
        ("CREATE TABLE air.x (id INT) PRIMARY KEY (id)", "the last in the parentheses"),
    ],
)
def test_habits_of_other_formats_are_answered(spark: SparkSession, text: str, hint: str) -> None:
    shown = lines(spark, text)

    assert hint in " ".join(shown)
    assert "_LEGACY" not in "".join(shown)


def over(line: str, carets: str) -> str:
    """Return what a reader sees over the carets; wide characters take two columns."""
    columns = [character for character in line for _ in range(text_width(character))]
    return "".join(columns[carets.index("^") : carets.rindex("^") + 1])


def test_a_missing_table_gets_close_names(spark: SparkSession) -> None:
    statement = split("SELECT * FROM air.flihgts")[0]
    sent = quote_system_tables(statement)
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND") as caught:
        spark.sql("SELECT * FROM default.flihgts")

    error = explain(caught.value, statement, sent, lambda: ["default.flights", "air.t"])

    assert error is not None
    assert error.hint == "Did you mean 'default.flights'?"


def test_our_own_errors_are_pointed_at_by_name() -> None:
    statement = split("SELECT carier FROM air.flihgts")[0]
    sent = quote_system_tables(statement)

    column = explain(
        ColumnNotFoundError("carier", "air.flights", ["carrier"]), statement, sent, lambda: TABLES
    )
    table = explain(TableNotFoundError("air.flihgts", TABLES), statement, sent, lambda: TABLES)

    assert column is not None
    assert column.lines() == [
        "air.flights has no column 'carier'; it has carrier. Did you mean 'carrier'?",
        "   1 | SELECT carier FROM air.flihgts",
        "     |        ^^^^^^",
    ]
    assert table is not None
    assert table.lines()[-1] == "     |                        ^^^^^^^"

    call = split("CALL sys.create_tag('air.t', 'v1', 99)")[0]
    snapshot = explain(SnapshotNotFoundError("air.t", "99"), call, quote_system_tables(call), list)
    assert snapshot is not None
    assert snapshot.lines()[-1].index("^") == snapshot.lines()[-2].index("99")


@pytest.mark.parametrize(
    ("condition", "parameters", "marked", "hint"),
    [
        (
            "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS",
            {"tableColumns": "`id`, `a`", "dataColumns": "`id`", "tableName": "`paimon`.`db`.`t`"},
            "",
            "a is missing; to leave it NULL name the columns given: INSERT INTO db.t (id) …",
        ),
        ("UNRECOGNIZED_PARAMETER_NAME", {"argumentName": "`tga`"}, "tga", ""),
        ("REQUIRED_PARAMETER_NOT_FOUND", {"routineName": "`create_tag`"}, "create_tag", ""),
    ],
)
def test_what_spark_says_without_a_place_is_pointed_at(
    condition: str, parameters: dict[str, str], marked: str, hint: str
) -> None:
    statement = split("CALL sys.create_tag(tga => 'x')")[0]
    thrown = AnalysisException("no", errorClass=condition, messageParameters=parameters)

    error = explain(thrown, statement, quote_system_tables(statement), list)

    assert error is not None
    assert error.hint == hint
    place = error.span
    assert (statement.cell[place.start : place.end] if place else "") == marked


def test_a_failing_python_function_says_its_last_line(spark: SparkSession) -> None:
    spark.udf.register("broken", lambda value: 1 // (value - value))

    shown = lines(spark, "SELECT broken(id) FROM range(1)")

    assert shown[0].startswith("A Python function of the query failed: ZeroDivisionError: ")


def test_what_is_neither_is_a_bug() -> None:
    statement = split("SELECT 1")[0]

    assert explain(KeyError("x"), statement, quote_system_tables(statement), list) is None


class Thrown:
    """A Java exception as Py4J hands it over."""

    _target_id = "o1"
    _gateway_client = None

    def __init__(self, message: str | None, cause: Thrown | None = None) -> None:
        self._message = message
        self._cause = cause

    def getCause(self) -> Thrown | None:  # noqa: N802 - Java's
        return self._cause

    def getMessage(self) -> str | None:  # noqa: N802
        return self._message

    def getClass(self) -> Thrown:  # noqa: N802
        return self

    def getSimpleName(self) -> str:  # noqa: N802
        return "IOException"


@pytest.mark.parametrize(
    ("thrown", "said"),
    [
        (Thrown("Job aborted", Thrown("disk\n full")), "IOException: disk full"),
        (Thrown(None), "IOException"),
    ],
)
def test_what_java_throws_is_told_by_its_cause(thrown: Thrown, said: str) -> None:
    statement = split("SELECT 1")[0]
    sent = quote_system_tables(statement)

    found = explain(Py4JJavaError("An error occurred", thrown), statement, sent, list)

    assert found is not None
    assert found.lines() == [said]


def test_a_jvm_that_is_gone_is_no_traceback() -> None:
    statement = split("SELECT 1")[0]

    found = explain(ConnectionRefusedError(), statement, quote_system_tables(statement), list)

    assert found is not None
    assert found.hint == "Restart the kernel, then connect again."
