from __future__ import annotations

import datetime as dt
import io
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.errors import ColumnNotFoundError, SchemaError
from paimonlab.spec.predicates.predicate import (
    AlwaysTrue,
    ColumnStats,
    Predicate,
    bind,
    col,
    columns,
    doubts,
    evaluate,
    may_match_stats,
    rename_columns,
    split_and,
    to_arrow_filter,
)
from paimonlab.spec.types.arrow import arrow_schema, to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.spec.predicate_model import (
    FIELDS,
    SCHEMA,
    TYPES,
    VALUES,
    every_leaf,
    predicates,
    rows,
    to_table,
    truth,
)


def decide(predicate: Predicate, type_text: str, values: list[Any]) -> list[bool | None]:
    """Bind to one column ``x`` and evaluate."""
    field = DataField(0, "x", parse_type(type_text))
    table = pa.table([pa.array(values, arrow_schema([field]).field(0).type)], names=["x"])
    return evaluate(bind(predicate, [field], "db.t"), table).to_pylist()


def column_rows(column: str) -> list[dict[str, Any]]:
    """Make a row of every value of one column, and one of null."""
    nothing = dict.fromkeys(TYPES)
    return [nothing | {column: value} for value in (*VALUES[column], None)]


@pytest.mark.parametrize("column", TYPES)
def test_every_comparison_with_every_value(column: str) -> None:
    rows = column_rows(column)
    table = to_table(rows)

    for predicate in every_leaf(column):
        decided = evaluate(bind(predicate, FIELDS, "db.t"), table).to_pylist()
        assert decided == [truth(predicate, row) for row in rows], predicate


@pytest.mark.parametrize("column", TYPES)
def test_no_pair_of_values_is_ruled_out_wrongly(column: str) -> None:
    """Files of two rows each, and row groups: what prunes must keep every matching one."""
    rows = column_rows(column)
    files = [[one, other] for index, one in enumerate(rows) for other in rows[index:]]
    stats = {column: file_stats(column, files, cut_texts=False)}
    cut = {column: file_stats(column, files, cut_texts=True)}
    table = to_table([row for file in files for row in file])
    groups = row_groups(table, rows_per_group=2)

    for predicate in every_leaf(column):
        bound = bind(predicate, FIELDS, "db.t")
        truths = pc.fill_null(evaluate(bound, table), fill_value=False)
        decided = truths.to_numpy().reshape(-1, 2).any(1)
        assert not (decided & ~may_match_stats(bound, stats)).any(), predicate
        assert not (decided & ~may_match_stats(bound, cut)).any(), predicate
        expression = to_arrow_filter(bound, SCHEMA)
        if expression is not None:
            kept = {group.row_groups[0].id for group in groups(expression)}
            assert set(np.flatnonzero(decided)) <= kept, predicate


def row_groups(table: pa.Table, *, rows_per_group: int) -> Any:
    """Write Parquet with small row groups; the result finds those that an expression keeps."""
    data = io.BytesIO()
    pq.write_table(table, data, row_group_size=rows_per_group)
    fragment = ds.ParquetFileFormat().make_fragment(pa.BufferReader(data.getvalue()))
    return lambda expression: fragment.split_by_row_group(filter=expression, schema=SCHEMA)


@given(predicates, rows)
def test_evaluation_agrees_with_the_row_wise_model(
    predicate: Predicate, rows: list[dict[str, Any]]
) -> None:
    bound = bind(predicate, FIELDS, "db.t")

    assert evaluate(bound, to_table(rows)).to_pylist() == [truth(predicate, row) for row in rows]


@given(predicates, rows)
def test_a_negated_predicate_is_the_negated_truth(
    predicate: Predicate, rows: list[dict[str, Any]]
) -> None:
    table = to_table(rows)

    negated = evaluate(bind(~predicate, FIELDS, "db.t"), table)

    assert negated.equals(pc.invert(evaluate(bind(predicate, FIELDS, "db.t"), table)))


@given(predicates, rows)
def test_binding_twice_and_pickling_change_nothing(
    predicate: Predicate, rows: list[dict[str, Any]]
) -> None:
    bound = bind(predicate, FIELDS, "db.t")

    assert bind(bound, FIELDS, "db.t") == bound
    assert pickle.loads(pickle.dumps(bound)) == bound
    assert hash(bound) == hash(bind(predicate, FIELDS, "db.t"))


@given(predicates, rows)
def test_an_arrow_filter_keeps_every_matching_row(
    predicate: Predicate, rows: list[dict[str, Any]]
) -> None:
    bound, table = bind(predicate, FIELDS, "db.t"), to_table(rows)

    expression = to_arrow_filter(bound, SCHEMA)

    numbered = table.append_column("row", pa.array(range(len(rows)), pa.int64()))
    wanted = numbered.filter(evaluate(bound, table))["row"].to_pylist()
    kept = numbered if expression is None else numbered.filter(expression)
    assert set(wanted) <= set(kept["row"].to_pylist())


@given(predicates, rows)
def test_an_arrow_filter_skips_no_row_group_with_a_matching_row(
    predicate: Predicate, rows: list[dict[str, Any]]
) -> None:
    bound, table = bind(predicate, FIELDS, "db.t"), to_table(rows)
    expression = to_arrow_filter(bound, SCHEMA)
    if expression is None or not rows:
        return

    groups = row_groups(table, rows_per_group=2)

    read = {group.row_groups[0].id for group in groups(expression)}

    matching = [row for row, hit in enumerate(evaluate(bound, table).to_pylist()) if hit]
    assert {row // 2 for row in matching} <= read


@given(predicates, st.lists(rows, min_size=1, max_size=4), st.data())
def test_statistics_never_rule_out_a_file_with_a_matching_row(
    predicate: Predicate, files: list[list[dict[str, Any]]], data: st.DataObject
) -> None:
    bound = bind(predicate, FIELDS, "db.t")
    known = data.draw(st.sets(st.sampled_from(list(TYPES))))
    cut = data.draw(st.booleans())
    stats = {name: file_stats(name, files, cut_texts=cut) for name in known}

    mask = may_match_stats(bound, stats, count=len(files))

    matching = [pc.any(evaluate(bound, to_table(rows))).as_py() or False for rows in files]
    assert not (np.array(matching) & ~mask).any()


@given(predicates, st.lists(rows, min_size=1, max_size=4), st.data())
def test_where_statistics_leave_no_doubt_every_row_matches(
    predicate: Predicate, files: list[list[dict[str, Any]]], data: st.DataObject
) -> None:
    bound = bind(predicate, FIELDS, "db.t")
    known = data.draw(st.sets(st.sampled_from(list(TYPES))))
    cut = data.draw(st.booleans())
    stats = {name: file_stats(name, files, cut_texts=cut) for name in known}

    is_open = may_match_stats(doubts(bound), stats, count=len(files))

    for rows_of_file, may_fail in zip(files, is_open, strict=True):
        assert may_fail or all(truth(predicate, row) is True for row in rows_of_file)


@pytest.mark.parametrize("column", TYPES)
def test_no_pair_of_values_is_taken_for_matching_wrongly(column: str) -> None:
    rows = column_rows(column)
    files = [[one, other] for index, one in enumerate(rows) for other in rows[index:]]
    both_stats = [
        {column: file_stats(column, files, cut_texts=cut_texts)} for cut_texts in (False, True)
    ]
    certain = 0

    for predicate in every_leaf(column):
        bound = bind(predicate, FIELDS, "db.t")
        hits = [truth(predicate, row) is True for row in rows]
        all_match = [one and other for index, one in enumerate(hits) for other in hits[index:]]
        for stats in both_stats:
            may_fail = may_match_stats(doubts(bound), stats)
            for is_open, is_matched in zip(may_fail, all_match, strict=True):
                assert is_open or is_matched, predicate
                certain += not is_open

    assert certain, "some are known to match"


def file_stats(name: str, files: list[list[dict[str, Any]]], *, cut_texts: bool) -> ColumnStats:
    """Collect what a writer would: bounds without NaN, texts cut to one character."""
    arrays = [to_table(rows)[name].combine_chunks() for rows in files]
    ends = [pc.min_max(array) for array in arrays]
    low = [end["min"] for end in ends]
    high = [end["max"] for end in ends]
    if name == "text" and cut_texts:
        low = [end.as_py() and end.as_py()[:1] for end in low]
        high = [end.as_py() and end.as_py()[:1] + "\U0010ffff" for end in high]
    arrow_type = SCHEMA.field(name).type
    return ColumnStats(
        pa.array(low, arrow_type),
        pa.array(high, arrow_type),
        pa.array([array.null_count for array in arrays], pa.int64()),
        pa.array([len(array) for array in arrays], pa.int64()),
    )


def test_statistics_do_rule_files_out() -> None:
    field = DataField(0, "x", parse_type("STRING"))
    stats = {
        "x": ColumnStats(
            pa.array(["a", "m", None]),
            pa.array(["f", "z", None]),
            pa.array([0, 1, 9], pa.int64()),
            pa.array([9, 9, 9], pa.int64()),
        )
    }

    def mask(predicate: Predicate) -> list[bool]:
        return may_match_stats(bind(predicate, [field], "t"), stats).tolist()

    assert mask(col("x") == "b") == [True, False, False]
    assert mask(col("x") > "f") == [False, True, False]
    assert mask(col("x") <= "a") == [True, False, False]
    assert mask(col("x") < "a") == [False, False, False]
    assert mask(col("x") >= "z") == [False, True, False]
    assert mask(col("x") != "a") == [True, True, False]
    assert mask(col("x").is_null()) == [False, True, True]
    assert mask(col("x").is_not_null()) == [True, True, False]
    assert mask(col("x").is_in(["b", "g"])) == [True, False, False]
    assert mask(col("x").is_in(["g", "h"])) == [False, False, False]
    assert mask(col("x").starts_with("n")) == [False, True, False]
    assert mask(~col("x").starts_with("n")) == [True, True, False]
    assert mask((col("x") == "b") | (col("x") == "n")) == [True, True, False]


def test_many_values_of_an_in_are_judged_by_their_range() -> None:
    field = DataField(0, "x", parse_type("INT"))
    count = pa.array([5, 5], pa.int64())
    stats = {
        "x": ColumnStats(
            pa.array([0, 500], pa.int32()),
            pa.array([99, 600], pa.int32()),
            pa.array([0, 0], pa.int64()),
            count,
        )
    }

    mask = may_match_stats(bind(col("x").is_in(range(1000, 1100)), [field], "t"), stats)
    hit = may_match_stats(bind(col("x").is_in(range(90, 300)), [field], "t"), stats)

    assert mask.tolist() == [False, False]
    assert hit.tolist() == [True, False]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("STRING", [f"{'é' * (number % 3)}{number:03}" for number in range(500)]),
        ("DATE", [dt.date(2024, 1, 1) + dt.timedelta(number) for number in range(500)]),
        ("DECIMAL(9, 2)", [Decimal(number) / 4 for number in range(-250, 250)]),
        (
            "TIMESTAMP(3)",
            [dt.datetime(2024, 1, 1, number // 60, number % 60) for number in range(500)],
        ),
        ("BYTES", [bytes([number % 2 * 200, number // 2]) for number in range(500)]),
        ("DOUBLE", [number / 4 for number in range(500)]),
    ],
)
def test_many_values_of_an_in_are_judged_as_each_of_them(
    kind: str, values: list[Any], rng: np.random.Generator
) -> None:
    field = DataField(0, "x", parse_type(kind))
    arrow_type = to_arrow(field.type)
    ordered = sorted(values)
    ends = np.sort(rng.integers(0, len(values), (60, 2)), axis=1)
    low, high = (
        [None if rng.random() < 0.1 else ordered[place] for place in column] for column in ends.T
    )
    counts = pa.array([9] * 60, pa.int64())
    nulls = pa.array([int(one) for one in rng.choice([0, 9], 60, p=[0.9, 0.1])], pa.int64())
    stats = {"x": ColumnStats(pa.array(low, arrow_type), pa.array(high, arrow_type), nulls, counts)}
    listed = [values[int(place)] for place in rng.choice(len(values) // 5, 70, replace=False) * 5]

    found = may_match_stats(bind(col("x").is_in(listed), [field], "t"), stats)

    each = [may_match_stats(bind(col("x") == one, [field], "t"), stats) for one in listed]
    needed = np.logical_or.reduce(each)
    if kind == "DOUBLE":  # only the range of all is looked at
        assert (found | ~needed).all()
    else:
        assert found.tolist() == needed.tolist()


def test_nothing_known_rules_nothing_out() -> None:
    bound = bind(col("x") == 1, [DataField(0, "x", parse_type("INT"))], "t")

    assert may_match_stats(bound, {}, count=2).tolist() == [True, True]
    with pytest.raises(ValueError, match="count of files"):
        may_match_stats(bound, {})


def test_an_unknown_column_is_an_error_with_close_matches() -> None:
    with pytest.raises(ColumnNotFoundError, match=r"db\.t has no column 'txt'.*'text'"):
        bind((col("big") > 1) & (col("txt") == "a"), FIELDS, "db.t")


@pytest.mark.parametrize(
    ("column", "literal"),
    [
        ("big", "x"),
        ("big", True),
        ("text", 1),
        ("day", 5),
        ("day", "yesterday"),
        ("flag", 1),
        ("bytes", "a"),
        ("ts3", "2024-01-01 00:00:00+01:00"),
        ("clock", "25:00"),
    ],
)
def test_what_cannot_be_compared_is_an_error_that_names_both(column: str, literal: object) -> None:
    with pytest.raises(SchemaError, match=f"db.t, column '{column}': .*cannot be compared with"):
        bind(col(column) == literal, FIELDS, "db.t")


def test_a_pattern_needs_a_text() -> None:
    with pytest.raises(SchemaError, match="column 'big': LIKE needs text, not BIGINT"):
        bind(col("big").starts_with("1"), FIELDS, "db.t")
    with pytest.raises(SchemaError, match="backslash"):
        bind(col("text").like("a\\"), FIELDS, "db.t")


def test_text_stands_for_dates_and_numbers() -> None:
    assert decide(col("x") >= "2024-02-29", "DATE", [19781, 19782]) == [False, True]
    prices = [Decimal("1.50"), Decimal("1.51"), None]
    assert decide(col("x") == " 1.5 ", "DECIMAL(4, 2)", prices) == [True, False, None]
    assert decide(col("x") == "12", "INT", [12, 13]) == [True, False]
    instant = 1_704_063_600_000_000
    assert decide(
        col("x") == "2024-01-01 00:00:00+01:00", "TIMESTAMP_LTZ(6)", [instant, instant + 1]
    ) == [True, False]


def test_nothing_equals_none() -> None:
    with pytest.raises(TypeError, match="is_null"):
        _ = col("x") == None  # noqa: E711


def test_python_words_cannot_join_predicates() -> None:
    with pytest.raises(TypeError, match=r"& \| ~"):
        _ = (col("x") == 1) and (col("x") == 2)


def test_two_columns_cannot_be_compared() -> None:
    with pytest.raises(TypeError, match="two columns"):
        _ = col("x") == col("y")


def test_a_tree_tells_its_columns_and_conjuncts() -> None:
    predicate = (col("a") > 1) & ((col("b") == 2) | col("c").is_null()) & ~col("d").like("x")

    assert columns(predicate) == {"a", "b", "c", "d"}
    assert [str(part) for part in split_and(predicate)] == [
        "a > 1",
        "(b = 2 OR c IS NULL)",
        "NOT d LIKE 'x'",
    ]
    assert split_and(AlwaysTrue()) == ()
    assert columns(rename_columns(predicate, {"a": "z", "d": "y"})) == {"z", "b", "c", "y"}


def test_a_predicate_without_columns_covers_rows_without_columns() -> None:
    batch = pa.RecordBatch.from_struct_array(pa.array([{}, {}], pa.struct([])))

    assert evaluate(AlwaysTrue(), batch).to_pylist() == [True, True]
