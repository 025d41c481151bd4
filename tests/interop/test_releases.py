"""Where releases of Java Paimon differ: what each of them answers, and what is answered here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.spec.options.registry import KNOWN_OPTIONS, find_option
from tests.interop.java_build import NEWEST, RELEASES
from tests.interop.oracle import JavaPaimon, Oracle
from tests.interop.pair import KIND, SIDES, Pair, Side

pytestmark = [pytest.mark.interop, pytest.mark.releases(*RELEASES)]

Row = Sequence[Any]
COLUMNS = {"k": "INT NOT NULL", "a": "STRING", "b": "INT"}
NOT_OF_TABLES = {"path"}
"""Options that say where a table lies; it knows that."""


def test_the_release_is_the_one_that_was_asked_for(oracle: Oracle) -> None:
    assert oracle.ask("version").startswith(oracle.release)


def test_every_option_of_java_is_known(oracle: Oracle) -> None:
    options = [(key.replace("#", "x"), earlier) for key, earlier in oracle.ask("options")]

    assert len(options) > 200
    assert not {key for key, _ in options if find_option(key) is None} - NOT_OF_TABLES
    for key, earlier in options:
        for one in earlier:
            assert one in KNOWN_OPTIONS or find_option(one) == find_option(key), (one, key)


def written(pair: Pair, options: dict[str, str], rows: Sequence[tuple[str, Row]]) -> None:
    """Make a table and write each row in a commit of its own, the last one by us."""
    options = {"bucket": "1", "write-only": "true", **options}
    pair.create("java", "db.t", COLUMNS, pk=["k"], options=options)
    for number, (kind, row) in enumerate(rows):
        data = {name: [value] for name, value in zip(COLUMNS, row, strict=True)}
        schema = pa.schema([("k", pa.int32()), ("a", pa.string()), ("b", pa.int32())])
        table = pa.table(data, schema=schema).append_column(KIND, pa.array([kind]))
        pair.write("us" if number == len(rows) - 1 else "java", "db.t", table)


def assert_answers(pair: Pair, ours: list[Row], javas: dict[str, list[Row]]) -> None:
    assert pair.our_rows("db.t") == ours
    assert pair.java_rows("db.t") == javas[pair.java.release]


@pytest.mark.parametrize("engine", ["partial-update", "aggregation"])
def test_what_was_removed_does_not_come_back(pair: Pair, engine: str) -> None:
    options = {"merge-engine": engine, f"{engine}.remove-record-on-delete": "true"}
    row = (1, "x", 5)

    written(pair, options, [("+I", row), ("-D", row), ("+I", (1, None, 7))])

    assert_answers(pair, [[1, None, 7]], {"1.3.1": [[1, None, 7]], NEWEST: [[1, "x", 7]]})


def test_java_forgets_removed_values_in_a_full_compaction(pair: Pair, java: JavaPaimon) -> None:
    """So rows of Java 1.4 depend on when it compacted."""
    options = {
        "merge-engine": "partial-update",
        "partial-update.remove-record-on-delete": "true",
        "bucket": "1",
        "write-only": "true",
    }
    pair.create("java", "db.t", COLUMNS, pk=["k"], options=options)
    java.write("db.t", [(1, "x", 5)])
    java.write("db.t", [(1, "x", 5)], "-D")
    java("compact", table="db.t")

    java.write("db.t", [(1, None, 7)])

    assert pair.our_rows("db.t") == pair.java_rows("db.t") == [[1, None, 7]]


def test_a_sum_that_begins_with_a_row_taken_back(pair: Pair) -> None:
    options = {
        "merge-engine": "partial-update",
        "fields.a.sequence-group": "b",
        "fields.b.aggregate-function": "sum",
    }

    written(pair, options, [("-U", (1, "1", 10)), ("+I", (1, "2", 12))])

    assert_answers(pair, [[1, "2", 2]], {"1.3.1": [[1, "2", 2]], NEWEST: [[1, "2", 12]]})


@pytest.mark.parametrize("engine", ["partial-update", "aggregation"])
@pytest.mark.parametrize("writer", SIDES)
@pytest.mark.parametrize("in_one", [True, False])
def test_a_delete_keeps_its_sequence(pair: Pair, writer: Side, in_one: bool, engine: str) -> None:
    """A row that comes after the delete, with a smaller sequence, must not appear."""
    options = {
        "merge-engine": engine,
        f"{engine}.remove-record-on-delete": "true",
        "sequence.field": "b",
        "bucket": "1",
        "write-only": "true",
    }
    pair.create("java", "db.t", COLUMNS, pk=["k"], options=options)
    schema = pa.schema({"k": pa.int32(), "a": pa.string(), "b": pa.int32()})
    rows = pa.table({"k": [1, 1], "a": ["x", "y"], "b": [1, 3]}, schema=schema)
    both = rows.append_column(KIND, pa.array(["+I", "-D"]))
    for commit in [both] if in_one else [both.slice(0, 1), both.slice(1)]:
        pair.write(writer, "db.t", commit)

    late = pa.table({"k": [1], "a": ["late"], "b": [2]}, schema=schema)
    pair.write(writer, "db.t", late)

    is_lost = in_one and writer == "java" and pair.java.release == "1.3.1"
    expected: list[Row] = [[1, "late", 2]] if is_lost else []
    assert_answers(pair, expected, dict.fromkeys(RELEASES, expected))


def test_empty_texts_add_nothing_to_a_list(pair: Pair) -> None:
    options = {"merge-engine": "aggregation", "fields.a.aggregate-function": "listagg"}
    texts = ["", "a", "", "b", None, ""]

    written(pair, options, [("+I", (1, text, 1)) for text in texts])

    assert_answers(pair, [[1, "a,b", 1]], {"1.3.1": [[1, ",a,,b,", 1]], NEWEST: [[1, "a,b", 1]]})
    assert pair.open("db.t").compact(full=True).snapshot is not None
    assert_answers(pair, [[1, "a,b", 1]], {one: [[1, "a,b", 1]] for one in RELEASES})
