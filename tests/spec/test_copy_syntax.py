"""The grammar of COPY INTO, and which options its files can have."""

from __future__ import annotations

import pytest

from paimonlab.errors import UnsupportedError
from paimonlab.spec.sql_text.copy_syntax import (
    CopyFormat,
    CopyIntoFolder,
    CopyIntoTable,
    OnError,
    parse_copy_statement,
)
from paimonlab.spec.sql_text.reader import StatementSyntaxError
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.table.copying.formats import check_compression, reader_options, writer_options


def parse(text: str) -> CopyIntoTable | CopyIntoFolder | None:
    return parse_copy_statement(tokenize(text), text)


def test_all_clauses_of_a_load_are_read_in_any_order_and_case() -> None:
    assert parse(
        "copy into c.`d.b`.t (a, `b c`) from '/x' file_format = (type = 'json', null_if = ('', "
        "'-'), multi_line = true) on_error = skip_file force = false pattern = '.*'"
    ) == CopyIntoTable(
        table=("c", "d.b", "t"),
        columns=("a", "b c"),
        source="/x",
        format=CopyFormat.JSON,
        options={"NULL_IF": ("", "-"), "MULTI_LINE": "true"},
        pattern=".*",
        is_forced=False,
        on_error=OnError.SKIP_FILE,
    )


def test_a_query_is_what_is_between_its_parentheses() -> None:
    said = "COPY INTO '/x' FROM ( SELECT ')' -- )\n FROM t WHERE a IN (1) ) FILE_FORMAT=(TYPE=CSV)"

    found = parse(said)

    assert isinstance(found, CopyIntoFolder)
    assert found.query == "SELECT ')' -- )\n FROM t WHERE a IN (1)"
    assert parse("SELECT 1") is None


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("t FROM '/x' FILE_FORMAT = (FORCE = 1)", "TYPE = CSV, JSON"),
        ("t FROM '/x' FILE_FORMAT = (TYPE = XML)", "'XML' is none"),
        ("t FROM '/x' FILE_FORMAT = (TYPE = CSV, TYPE = CSV)", "only once"),
        ("t FROM '/x' FILE_FORMAT = (TYPE = CSV) ON_ERROR = SKIP", "SKIP_FILE here, not SKIP"),
        ("t FROM '/x' FILE_FORMAT = (TYPE = CSV) FORCE = TRUE FORCE = TRUE", "each once"),
        ("t FROM '/x' FILE_FORMAT = (TYPE = CSV) OVERWRITE = TRUE", "PATTERN, FORCE or ON_ERROR"),
        ("t FROM '/x'", r"FILE_FORMAT = \(TYPE = CSV\), or another type, here, not the end"),
        ("t FROM /x", "in quotes here, not /"),
        ("'/x' FROM t FILE_FORMAT = (TYPE = CSV) FORCE = TRUE", "the end here, not FORCE"),
        ("'/x' FROM (SELECT 1 FILE_FORMAT = (TYPE = CSV)", r"\) here, not the end"),
    ],
)
def test_what_goes_on_otherwise_is_said(said: str, message: str) -> None:
    with pytest.raises(StatementSyntaxError, match=message):
        parse(f"COPY INTO {said}")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (CopyFormat.CSV, {"HEADER": "TRUE"}, "use one of FIELD_DELIMITER"),
        (CopyFormat.CSV, {"MODE": "PERMISSIVE"}, "MODE"),
        (CopyFormat.CSV, {"SKIP_HEADER": "2"}, "0 or 1"),
        (CopyFormat.CSV, {"QUOTE": ("a", "b")}, "one value"),
        (CopyFormat.JSON, {"SKIP_HEADER": "1"}, "SKIP_HEADER"),
        (CopyFormat.JSON, {"MULTI_LINE": "1"}, "TRUE or FALSE"),
        (CopyFormat.PARQUET, {"COMPRESSION": "GZIP"}, "no other options"),
    ],
)
def test_options_that_files_to_load_do_not_have_are_refused(
    kind: CopyFormat, options: dict[str, str], message: str
) -> None:
    with pytest.raises(UnsupportedError, match=message):
        reader_options(kind, options)


def test_a_compression_is_that_of_the_names() -> None:
    check_compression({"COMPRESSION": "gzip"}, ["a.csv.gz"])
    check_compression({"COMPRESSION": "NONE"}, ["a.csv"])
    for codec, name in (("GZIP", "a.csv"), ("NONE", "a.csv.gz"), ("LZO", "a.csv")):
        with pytest.raises(UnsupportedError, match=codec):
            check_compression({"COMPRESSION": codec}, [name])


def test_options_of_files_to_write_are_those_of_the_format() -> None:
    assert writer_options(CopyFormat.CSV, {"HEADER": "TRUE", "QUOTE": "|"}) == {
        "header": "true",
        "quote": "|",
    }
    for kind, key in ((CopyFormat.JSON, "HEADER"), (CopyFormat.CSV, "NULL_IF")):
        with pytest.raises(UnsupportedError, match=key):
            writer_options(kind, {key: "x"})
