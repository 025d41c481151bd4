"""How arguments are given to parameters, and how their texts are read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from paimonlab.errors import PaimonError
from paimonlab.procedures import bind, find
from paimonlab.procedures.consumers import check_pattern
from paimonlab.procedures.names import table_name
from paimonlab.procedures.partitions import partitions
from paimonlab.procedures.rollbacks import target
from paimonlab.procedures.texts import duration, key_values, local_time
from tests.support import cases

_READERS: dict[str, Callable[[str], object]] = {
    "name": lambda text: table_name(
        text, procedure="p", argument="a", default_database="main", catalog_name="paimon"
    ),
    "pairs": lambda text: key_values(text, procedure="p", argument="a"),
    "partitions": lambda text: partitions(text, procedure="p"),
    "time": lambda text: local_time(text, procedure="p", argument="a"),
    "duration": lambda text: duration(text, procedure="p", argument="a"),
    "version": lambda text: repr(target("p", text, None, None)),
    "pattern": lambda text: check_pattern(text, procedure="p", argument="a"),
}


@pytest.mark.parametrize(("title", "given", "expected"), cases("procedure_arguments"))
def test_arguments_find_their_parameters(title: str, given: str, expected: str) -> None:
    name, positional, named = (part.strip() for part in given.split("|"))
    values = ast.literal_eval(f"[{positional}]")
    call = ast.parse(f"f({named})", mode="eval").body
    assert isinstance(call, ast.Call), title
    pairs = [(str(one.arg), ast.literal_eval(one.value)) for one in call.keywords]

    try:
        bound = bind(find(name), values, pairs)
        found = " ".join(f"{key}={value!r}" for key, value in bound.items())
    except PaimonError as error:
        found = str(error)

    assert found == expected, title


@pytest.mark.parametrize(("title", "given", "expected"), cases("procedure_texts"))
def test_texts_are_read_as_java_reads_them(title: str, given: str, expected: str) -> None:
    kind, _, text = given.strip().partition(" ")

    try:
        found = str(_READERS[kind](text))
    except PaimonError as error:
        found = str(error)

    assert found == expected, title


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 12, 34, 56, 789000), "2026-01-31 12:34:56.789"),
        (datetime(2026, 1, 31, 12, 34, 56, tzinfo=UTC), None),
        (Decimal("1E+2"), "100"),
        (Decimal("1.50"), "1.50"),
    ],
)
def test_values_become_the_text_that_spark_makes_of_them(
    value: object, expected: str | None
) -> None:
    if isinstance(value, datetime) and value.tzinfo:
        expected = value.astimezone().replace(tzinfo=None).isoformat(sep=" ")

    assert bind(find("expire_tags"), ["db.t", value])["older_than"] == expected


@pytest.mark.parametrize(
    "given", [(None, None, None), ("1", 1, None), (None, 1, "x"), (" ", None, None), ("1", 1, "x")]
)
def test_one_of_version_snapshot_and_tag_is_given(given: tuple[None, None, None]) -> None:
    with pytest.raises(PaimonError, match="give one of version, snapshot and tag"):
        target("rollback", *given)
