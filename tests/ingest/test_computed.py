"""Functions of computed columns: against what Java's tests expect, and Python's own dates."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab.errors import IngestDataError, IngestSchemaError, SchemaError, UnsupportedError
from paimonlab.ingest.added_columns import AddedColumns
from paimonlab.ingest.changes import KIND_TYPE, RowChanges, SourceSchema
from paimonlab.ingest.computed import bound, computed_columns
from paimonlab.ingest.date_patterns import pieces_of
from paimonlab.ingest.fitting import BadRow, fitted
from paimonlab.ingest.job import Job
from paimonlab.ingest.plan import ingest_plan
from paimonlab.ingest.rules import IngestRules
from paimonlab.spec.types.text import format_type
from tests.ingest.drawing import source
from tests.ingest.scripted import ScriptedSource, change, rows

EPOCH = dt.datetime(1970, 1, 1)


def _changes(schema: SourceSchema, *columns: list[Any]) -> RowChanges:
    arrays = [
        pa.array(values, kind)
        for values, kind in zip(columns, schema.arrow_schema.types, strict=True)
    ]
    batch = pa.RecordBatch.from_arrays(arrays, names=list(schema.names))
    return RowChanges(table="a.t", rows=batch, schema=schema)


def _results(kind: str, text: str, values: list[Any]) -> tuple[str, list[Any]]:
    """Compute ``text`` of column ``c``; a wrong value is ``!`` and what its error says."""
    schema = source(f"c {kind}")
    columns = computed_columns({"x": text})
    added = AddedColumns(computed=columns)
    found: list[Any] = []
    for part in added.rows(fitted(_changes(schema, values)), "ods.t"):
        if isinstance(part, BadRow):
            found.append(f"! {part.error}")
        else:
            found += part.rows.column("x").to_pylist()
    (column,) = bound(columns, schema)
    return format_type(column.type), found


# Expected values of ``innerTestComputedColumn`` and ``testDateFormatWithEpochTime`` of
# apache/paimon@1.3.1 MySqlSyncTableActionITCase.
DAY, AT = dt.date(2023, 3, 23), dt.datetime(2021, 9, 15, 15, 0, 10)
NANOS = 1_704_585_662_123_456_789


@pytest.mark.parametrize(
    ("kind", "text", "value", "result"),
    [
        ("DATE", "year(c)", DAY, 2023),
        ("TIMESTAMP(0)", "year(c)", AT, 2021),
        ("DATE", "month(c)", DAY, 3),
        ("TIMESTAMP(0)", "month(c)", AT, 9),
        ("DATE", "day(c)", DAY, 23),
        ("TIMESTAMP(0)", "day(c)", AT, 15),
        ("DATE", "hour(c)", DAY, 0),
        ("TIMESTAMP(0)", "hour(c)", AT, 15),
        ("TIMESTAMP(0)", "minute(c)", dt.datetime(2022, 1, 1, 14, 30), 30),
        ("TIMESTAMP(0)", "second(c)", AT, 10),
        ("DATE", "date_format(c,yyyy)", DAY, "2023"),
        ("TIMESTAMP(0)", "date_format(c,yyyy-MM-dd)", AT, "2021-09-15"),
        ("TIMESTAMP(0)", "date_format(c,yyyyMMdd)", AT, "20210915"),
        ("DATE", "substring(c,2)", DAY, "23-03-23"),
        ("TIMESTAMP(0)", "substring(c,5,10)", AT, "09-15"),
        ("INT", "trUNcate(c,2)", 1, 0),
        ("INT", "trUNcate(c,2)", 2, 2),
        ("INT", "cast(11,INT)", 7, 11),
        ("VARCHAR(10)", "upper(c)", " vaLUE ", " VALUE "),
        ("VARCHAR(10)", "lower(c)", " vaLUE ", " value "),
        ("VARCHAR(10)", "trim(c)", " vaLUE ", "vaLUE"),
        ("INT", "date_format(c, yyyy-MM-dd HH:mm:ss)", NANOS // 10**9, "2024-01-07 00:01:02"),
        ("BIGINT", "date_format(c, yyyy-MM-dd HH:mm:ss, 0)", NANOS // 10**9, "2024-01-07 00:01:02"),
        ("BIGINT", "date_format(c, ss.SSS, 3)", NANOS // 10**6, "02.123"),
        ("BIGINT", "date_format(c, ss.SSSSSS, 6)", NANOS // 10**3, "02.123456"),
        ("BIGINT", "date_format(c, ss.SSSSSSSSS, 9)", NANOS, "02.123456789"),
        ("BIGINT", "minute(c, 9)", NANOS, 1),
    ],
)
def test_results_are_those_of_java(kind: str, text: str, value: Any, result: Any) -> None:
    _, found = _results(kind, text, [value, None])

    assert found == [result, 11 if "cast" in text else None]


@pytest.mark.parametrize(
    ("kind", "text", "made", "values", "results"),
    [
        ("STRING", "day(c)", "INT", ["2026-2-9", "2026-02-31", "2024-02-30 1:2:3"], [9, 28, 29]),
        ("STRING", "date_format(c, 'MM-dd HH')", "STRING", ["2026-12-31 24:00:00"], ["01-01 00"]),
        ("STRING", "date_format(c, s.SS)", "STRING", ["2026-01-01 00:00:07.129"], ["7.12"]),
        ("STRING", "year(c, 3)", "INT", ["1767225600000", "-1", "+0"], [2026, 1969, 1970]),
        ("BIGINT", "date_format(c, 'ss.SSS', 3)", "STRING", [-1, 5], ["59.999", "00.005"]),
        ("TIMESTAMP(9)", "date_format(c, SSSSSSSSS)", "STRING", [AT], ["000000000"]),
        (
            "TIMESTAMP(3) WITH LOCAL TIME ZONE",
            "date_format(c, 'yyyy-MM-dd HH')",
            "STRING",
            [dt.datetime(2026, 1, 1, 7, tzinfo=dt.timezone(dt.timedelta(hours=8)))],
            ["2025-12-31 23"],
        ),
        ("DATE", "date_format(c, 'd/M/yy ''D''D DDD Q')", "STRING", [DAY], ["23/3/23 D82 082 1"]),
        ("STRING", "substring(c, 1, 3)", "STRING", ["a😀éb", "abc"], ["😀é", "bc"]),
        ("STRING", "substring(c, 1)", "STRING", ["a"], [""]),
        ("BOOLEAN", "substring(c, 1)", "STRING", [True], ["rue"]),
        ("DECIMAL(4, 2)", "substring(c, 1)", "STRING", [Decimal("1.50")], [".50"]),
        ("VARCHAR(9)", "truncate(c, 2)", "VARCHAR(9)", ["äöü", "ab"], ["äö", "ab"]),
        ("TINYINT", "truncate(c, 100)", "TINYINT", [127, -1, -100], [100, -100, -100]),
        ("BIGINT", "truncate(c, 10)", "BIGINT", [-(2**63) + 8, 19], [-(2**63) + 8, 10]),
        (
            "DECIMAL(4, 2)",
            "truncate(c, 50)",
            "DECIMAL(4, 2)",
            [Decimal("10.65")],
            [Decimal("10.5")],
        ),
        ("STRING", "upper(c)", "STRING", ["straße", "é", "ab"], ["STRASSE", "É", "AB"]),
        ("STRING", "lower(c)", "STRING", ["ΟΔΟΣ", "ÄB"], ["οδος", "äb"]),
        ("STRING", "trim(c)", "STRING", ["\t a\u00a0\n", "  "], ["a\u00a0", ""]),
        ("INT", "cast('it''s')", "STRING", [1], ["it's"]),
        ("INT", "cast(1.5, DECIMAL(3, 1))", "DECIMAL(3, 1)", [1], [Decimal("1.5")]),
        ("INT", "cast(2026-01-01, DATE)", "DATE", [1], [dt.date(2026, 1, 1)]),
    ],
)
def test_rules_of_functions(
    kind: str, text: str, made: str, values: list[Any], results: list[Any]
) -> None:
    assert _results(kind, text, values) == (made, results)


@pytest.mark.parametrize(
    ("kind", "text", "value", "message"),
    [
        ("STRING", "year(c)", "2026-13-01", "c = '2026-13-01' is not a date (yyyy-MM-dd) or time"),
        ("STRING", "year(c)", "2026-01-01 10:00", "is not a date"),
        ("STRING", "year(c)", "0000-01-01", "of the years 1 to 9999"),
        ("STRING", "year(c)", "", "c = '' is not a date"),
        ("STRING", "year(c, 9)", "9223372036854775808", "is not a time of the years 1 to 9999"),
        ("STRING", "year(c, 0)", "1e3", "counted from 1970"),
        ("BIGINT", "year(c)", 253_402_300_800, "c = 253402300800 is not a time"),
        ("STRING", "substring(c, 3, 5)", "abcd", "has fewer than 5 characters"),
        ("STRING", "truncate(c, 5)", "abcd", "has fewer than 5 characters"),
        ("TINYINT", "truncate(c, 100)", -101, "no multiple of 100 below it in TINYINT"),
        ("BIGINT", "truncate(c, 10)", -(2**63), "in BIGINT"),
        ("DECIMAL(3, 1)", "truncate(c, 50)", Decimal("-99.9"), "below it in DECIMAL(3, 1)"),
    ],
)
def test_values_without_a_result_name_column_and_function(
    kind: str, text: str, value: Any, message: str
) -> None:
    _, found = _results(kind, text, [None, value, None])

    assert found[0] is None
    assert found[2] is None
    assert found[1].startswith(f"! ods.t: computed column 'x' = {text}: c = ")
    assert message in found[1]


def test_random_moments_are_those_of_python(rng: np.random.Generator) -> None:
    seconds = rng.integers(-62_135_596_800, 253_402_300_800, 300)
    micros = rng.integers(0, 1_000_000, 300)
    moments = [
        EPOCH + dt.timedelta(seconds=int(second), microseconds=int(micro))
        for second, micro in zip(seconds, micros, strict=True)
    ]
    texts = [f"{moment:{'%Y'}}".zfill(4) + f"{moment:-%m-%d %H:%M:%S.%f}" for moment in moments]
    counts = [int(s) * 1_000_000 + int(m) for s, m in zip(seconds, micros, strict=True)]
    pattern = "date_format(c, 'yyyy-MM-dd HH:mm:ss.SSSSSS')"

    assert _results("TIMESTAMP(6)", pattern, moments)[1] == texts
    assert _results("STRING", pattern, texts)[1] == texts
    assert _results("BIGINT", pattern.replace("')", "', 6)"), counts)[1] == texts
    for part in ("year", "month", "day", "hour", "minute", "second"):
        wanted = [getattr(moment, part) for moment in moments]
        assert _results("TIMESTAMP(6)", f"{part}(c)", moments)[1] == wanted


def test_random_decimals_are_those_of_python(rng: np.random.Generator) -> None:
    digits = [
        int(rng.integers(-(10**18), 10**18)) * 10**18 + int(rng.integers(10**18))
        for _ in range(200)
    ]
    width = int(rng.integers(1, 2**31))
    values = [Decimal(f"{number}E-7") for number in digits]

    found = _results("DECIMAL(38, 7)", f"truncate(c, {width})", values)[1]

    assert [int(f"{value:f}".replace(".", "")) for value in found] == [
        one - one % width for one in digits
    ]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("soundex(c)", UnsupportedError, "function 'soundex' of computed column 'x'"),
        ("uper(c)", UnsupportedError, "Did you mean 'upper'"),
        ("c", ValueError, "'c' is not of the form"),
        ("upper(c", ValueError, "is not of the form"),
        ("upper(c) + 1", ValueError, "is not of the form"),
        ("upper(c)(d)", ValueError, "cannot be read"),
        ("upper()", ValueError, "upper takes a column"),
        ("upper(c,)", ValueError, "an argument is missing"),
        ("upper('c'd)", ValueError, "an argument is missing, or a quote"),
        ("upper(trim(c))", ValueError, "functions are not nested; make trim(c) a computed"),
        ("upper(x)", ValueError, "it needs itself"),
    ],
)
def test_what_is_not_of_the_grammar_is_refused(
    text: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        computed_columns({"x": text})

    assert message in str(caught.value)
    assert "computed column 'x'" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("DOUBLE", "year(c)", "a date or time from DOUBLE"),
        ("DECIMAL(20, 0)", "year(c)", "a date or time from DECIMAL"),
        ("TIME", "hour(c)", "a date or time from TIME"),
        ("ARRAY<INT>", "year(c)", "from ARRAY<INT>"),
        ("DATE", "year(c, 3)", "DATE has no precision to give"),
        ("BIGINT", "year(c, 4)", "'4' is not a precision"),
        ("DATE", "date_format(c)", "it takes a column, a pattern"),
        ("DATE", "date_format(c, yyyy-ww)", "'ww' in the pattern 'yyyy-ww' is not supported"),
        ("DATE", "date_format(c, 'x''')", "'x' in the pattern"),
        ("DOUBLE", "substring(c, 1)", "substring of DOUBLE"),
        ("STRING", "substring(c, -1)", "'-1' is not a whole number of 0 or more"),
        ("STRING", "substring(c, 3, 3)", "the end 3 is not after the beginning 3"),
        ("BIGINT", "truncate(c, 0)", "'0' is not a whole number of 1 or more"),
        ("BIGINT", "truncate(c, 2147483648)", "is not a whole number"),
        ("DATE", "truncate(c, 1)", "truncate of DATE"),
        ("CHAR(3)", "upper(c)", "upper of CHAR(3)"),
        ("STRING", "trim(c, x)", "it takes a column"),
        ("INT", "cast(x, INT)", "cannot read 'x' as INT"),
        ("INT", "cast(1.5, INT)", "'1.5' does not fit INT"),
        ("INT", "cast(abc, VARCHAR(2))", "'abc' does not fit VARCHAR(2)"),
        ("INT", "cast(123, DECIMAL(3, 1))", "'123' does not fit DECIMAL(3, 1)"),
        ("INT", "cast(1, TIMESTAMP_LTZ(3))", "a text does not say its zone"),
        ("INT", "now(1)", "it takes nothing"),
        ("INT", "upper(C)", "there is no column 'C' in the source (c). Did you mean 'c'?"),
    ],
)
def test_types_and_arguments_that_do_not_do_are_refused(kind: str, text: str, message: str) -> None:
    with pytest.raises((SchemaError, UnsupportedError)) as caught:
        bound(computed_columns({"x": text}), source(f"c {kind}"))

    assert message in str(caught.value)
    assert f"computed column 'x' = {text}" in str(caught.value)


@pytest.mark.parametrize("letter", "GLEecaBqYwWVvzOXxZkKhnNApb{}#[]")
def test_letters_that_are_not_translated_are_refused_by_name(letter: str) -> None:
    with pytest.raises(UnsupportedError, match="in the pattern"):
        pieces_of(f"yyyy {letter}")


# In jobs

ORDERS = source("id BIGINT NOT NULL, created STRING, v STRING KEY(id)")
DT = {"dt": "date_format(created, 'yyyy-MM-dd')"}


def test_computed_columns_are_planned_and_may_be_keys() -> None:
    rules = IngestRules(
        into="ods",
        computed={**DT, "up": "upper(v)"},
        primary_keys=["dt", "id"],
        partition_keys=["dt"],
    )

    plan = ingest_plan({"a.t": ORDERS}, {}, rules)

    assert str(plan).splitlines() == [
        "create ods.t from a.t, primary key (dt, id), partitioned by (dt)",
        "  id       BIGINT NOT NULL",
        "  created  STRING",
        "  v        STRING",
        "  dt       STRING NOT NULL  computed: date_format(created, 'yyyy-MM-dd')",
        "  up       STRING           computed: upper(v)",
        (
            "  note: key column 'dt' is computed from 'created', which is no key: updates and "
            "deletes find a row only if the source gives the old value of it"
        ),
    ]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"computed": {"dt": "year(made)"}}, "there is no column 'made' in the source"),
        ({"computed": {"v": "upper(created)"}}, "the source has a column of this name"),
        ({"computed": {"x": "truncate(created, 0)"}}, "'0' is not a whole number"),
        ({"computed": {"t": {"x": "upper(id)"}}}, "upper of BIGINT is not supported"),
        ({"computed": DT, "partition_keys": ["day"]}, "'day' is not in the source (id, created"),
        (
            {"computed": {"n": "now()", "m": "hour(n)"}, "primary_keys": ["m", "id"]},
            "the primary key column 'm' is computed by now()",
        ),
    ],
)
def test_what_cannot_be_computed_is_refused_in_the_plan(told: dict[str, Any], reason: str) -> None:
    plan = ingest_plan({"a.t": ORDERS}, {}, IngestRules(into="ods", **told))

    assert not plan.tables
    assert reason in plan.refused[0].reason


@pytest.mark.parametrize(
    ("other", "types"),
    [
        ("id BIGINT, n INT", ["BIGINT", "INT", "STRING", "INT"]),
        ("id BIGINT, v CHAR(3)", "upper of CHAR(3) is not supported"),
        ("id BIGINT, x BIGINT", "the source has a column of this name"),
    ],
)
def test_columns_of_shards_are_computed_of_each(other: str, types: list[str] | str) -> None:
    shards = {"a.t": source("id BIGINT, n INT, v VARCHAR(5)"), "b.t": source(other)}
    rules = IngestRules(into="ods", computed={"x": "upper(v)", "ten": "truncate(n, 10)"})

    plan = ingest_plan(shards, {}, rules)

    if isinstance(types, str):
        assert types in plan.refused[0].reason
    else:
        found = {column.name: column.type for column in plan.tables[0].columns}
        assert [found[name] for name in ("id", "n", "x", "ten")] == types


def test_columns_can_be_told_by_table_and_instants_are_shown_in_utc() -> None:
    sources = {"a.t": source("at TIMESTAMP(3) WITH LOCAL TIME ZONE"), "a.u": source("v STRING")}
    rules = IngestRules(into="ods", computed={"t": {"h": "hour(at)"}, "n": "now()"})

    plan = ingest_plan(sources, {}, rules)

    assert [(c.name, c.type, c.reason) for c in plan.tables[0].columns[1:]] == [
        ("n", "TIMESTAMP(3)", "computed: now()"),
        ("h", "INT", "computed: hour(at), in UTC"),
    ]
    assert [column.name for column in plan.tables[1].columns] == ["v", "n"]


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path / "warehouse")


def _job(catalog: pm.Catalog, script: list[Any], schema: str, **told: Any) -> Job:
    made = ScriptedSource(script, {"a.t": source(schema)})
    job: Job = catalog.ingest(made, into="ods", name="job", **told)
    return job


def _stored(catalog: pm.Catalog) -> list[tuple[Any, ...]]:
    found = catalog.table("ods.t").scan().to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def test_rows_are_found_by_computed_keys(catalog: pm.Catalog) -> None:
    schema = "id BIGINT NOT NULL, day DATE NOT NULL, v STRING KEY(id, day)"
    script = [
        rows("a.t", schema, "+I 1 2026-01-01 a", "+I 2 2026-02-01 b", "+I 3 2026-01-03 -"),
        "|",
        rows("a.t", schema, "-U 1 2026-01-01 a", "+U 1 2026-02-02 c", "-D 2 2026-02-01 -"),
        "|",
    ]

    _job(
        catalog,
        script,
        schema,
        computed={"month": "date_format(day, yyyy-MM)", "w": "lower(up)", "up": "upper(v)"},
        primary_keys=["month", "id"],
        partition_keys=["month"],
        options={"bucket": 1},
    ).run()

    assert _stored(catalog) == [
        (1, dt.date(2026, 2, 2), "c", "2026-02", "c", "C"),
        (3, dt.date(2026, 1, 3), None, "2026-01", None, None),
    ]


def test_values_without_a_result_are_dead_letters(catalog: pm.Catalog) -> None:
    schema = "id BIGINT, created STRING"
    script = [rows("a.t", schema, "+I 1 2026-01-01", "+I 2 soon", "+I 3 -", "+I 4 x"), "|"]

    with pytest.raises(IngestDataError, match=r"ods.t: computed column 'dt' = date_format\(crea"):
        _job(catalog, script, schema, computed=DT, max_dead=1).run()
    status = _job(catalog, script, schema, computed=DT, max_dead=2).run()

    assert (status.rows, status.dead) == (2, 2)
    assert _stored(catalog) == [(1, "2026-01-01", "2026-01-01"), (3, None, None)]
    dead = catalog.table("ods.job__dead").scan().to_arrow().to_pylist()
    assert [(row["row"], row["position"]) for row in dead] == [
        ('{"id": 2, "created": "soon"}', '"row 1"'),
        ('{"id": 4, "created": "x"}', '"row 3"'),
    ]


@pytest.mark.parametrize("evolve", ["lenient", "exact"])
def test_a_table_stops_when_a_column_cannot_be_computed_any_more(
    catalog: pm.Catalog, evolve: str
) -> None:
    old, new = "id BIGINT, created STRING", "id BIGINT, n INT"
    script = [
        rows("a.t", old, "+I 1 2026-01-01"),
        "|",
        change("a.t", old, new),
        rows("a.t", new, "+I 2 2"),
        "|",
    ]

    with pytest.raises(IngestSchemaError, match="needs column 'created', which the source has no"):
        _job(catalog, script, old, computed=DT, evolve=evolve).run()

    assert _stored(catalog) == [(1, "2026-01-01", "2026-01-01")]


def test_computed_columns_follow_wider_and_new_columns(catalog: pm.Catalog) -> None:
    old, new = "id INT, v STRING", "id BIGINT, v STRING, n INT"
    script = [
        rows("a.t", old, "+I 17 a"),
        "|",
        rows("a.t", new, "+I 5000000019 b 1"),
        "|",
    ]

    _job(catalog, script, old, computed={"tens": "truncate(id, 10)"}).run()

    assert _stored(catalog) == [(17, "a", 10, None), (5000000019, "b", 5000000010, 1)]


def test_rows_that_lack_a_column_of_a_partial_schema_have_null(catalog: pm.Catalog) -> None:
    wide, narrow = "id BIGINT, created STRING PARTIAL", "id BIGINT PARTIAL"
    script = [rows("a.t", wide, "+I 1 2026-01-01"), rows("a.t", narrow, "+I 2"), "|"]

    _job(catalog, script, wide, computed=DT).run()

    assert _stored(catalog) == [(1, "2026-01-01", "2026-01-01"), (2, None, None)]


def test_now_is_the_time_of_the_local_clock(catalog: pm.Catalog) -> None:
    before = dt.datetime.now().replace(microsecond=0)  # noqa: DTZ005 - as it is stored

    _job(
        catalog, [rows("a.t", "id INT", "+I 1", "+I 2"), "|"], "id INT", computed={"at": "now()"}
    ).run()

    after = dt.datetime.now()  # noqa: DTZ005
    times = [row[1] for row in _stored(catalog)]
    assert times[0] == times[1]
    assert before <= times[0] <= after


def test_kinds_and_places_of_rows_are_kept_around_wrong_ones() -> None:
    schema = source("c STRING")
    changes = RowChanges(
        table="a.t",
        rows=_changes(schema, ["x", "2026-01-01", "y", "z", "2026-01-02"]).rows,
        kinds=pa.array([0, 1, 2, 3, 3], KIND_TYPE),
        schema=schema,
    )
    added = AddedColumns(computed=computed_columns({"d": "day(c)"}))

    found = [
        (part.rows.first, part.rows.rows.column(part.rows.kind_column).to_pylist(), "bad")
        if isinstance(part, BadRow)
        else (part.first, part.rows.column(part.kind_column).to_pylist(), "good")
        for part in added.rows(fitted(changes), "ods.t")
    ]

    assert found == [
        (0, [0], "bad"),
        (1, [1], "good"),
        (2, [2], "bad"),
        (3, [3], "bad"),
        (4, [3], "good"),
    ]
