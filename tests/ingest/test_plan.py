from __future__ import annotations

from typing import Any

import pytest

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import SourceSchema
from paimonlab.ingest.plan import IngestPlan, ingest_plan
from paimonlab.ingest.rules import IngestRules, refuse_missing
from paimonlab.spec.schema.definition import Schema, TableSchema, new_table_schema
from paimonlab.spec.schema.schema_changes import AddColumn, SetOption
from paimonlab.spec.types.text import parse_type
from tests.ingest.drawing import source

ORDERS = source("id BIGINT NOT NULL, day STRING, amount DECIMAL(10, 2) KEY(id)")


def _plan(
    sources: dict[str, SourceSchema], existing: dict[str, TableSchema] | None = None, **told: Any
) -> IngestPlan:
    return ingest_plan(sources, existing or {}, IngestRules(into="ods", **told))


def _table(columns: dict[str, str], keys: tuple[str, ...] = (), **options: str) -> TableSchema:
    schema = Schema(columns, primary_keys=keys, options=options)
    return new_table_schema(schema, time_millis=0)


def test_a_new_table_has_the_columns_and_the_key_of_its_source() -> None:
    plan = _plan({"shop.orders": ORDERS}, options={"bucket": 2})

    assert str(plan).splitlines() == [
        "create ods.orders from shop.orders, primary key (id)",
        "  id      BIGINT NOT NULL",
        "  day     STRING",
        "  amount  DECIMAL(10, 2)",
    ]
    definition = plan.tables[0].definition
    assert definition is not None
    assert definition.options == {"bucket": 2}


def test_options_of_some_tables() -> None:
    sources = {"a.orders": ORDERS, "a.items": ORDERS, "a.log": source("v STRING")}
    there = {"ods.items": _table({"id": "BIGINT", "day": "STRING"}, ("id",), bucket="2")}
    options: dict[str, Any] = {"bucket": 1, "num-levels": 5}
    by_table = {
        "orders|items": {"bucket": 2, "file.format": "orc"},
        "log": {"bucket": -1},
        "item": {"bucket": 9},
        "items": {"num-levels": 7},
    }
    plan = _plan(sources, there, options=options, table_options=by_table)

    assert not plan.refused
    items, log, orders = plan.tables
    assert orders.definition is not None
    assert log.definition is not None
    assert orders.definition.options == {"bucket": 2, "num-levels": 5, "file.format": "orc"}
    assert log.definition.options == {"bucket": -1, "num-levels": 5}
    altered = {one.key: one.value for one in items.changes if isinstance(one, SetOption)}
    assert altered == {"num-levels": "7", "file.format": "orc"}
    with pytest.raises(ValueError, match="table_options: '\\[' is not a regular expression"):
        IngestRules(into="ods", table_options={"[": {}})
    with pytest.raises(TypeError, match="not values by option"):
        IngestRules(into="ods", table_options={"bucket": 2})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ({}, {"orders": ("a.orders", "b.orders"), "items": ("a.items",)}),
        ({"merge_shards": False}, {"a_orders": 1, "b_orders": 1, "a_items": 1}),
        ({"prefix": "p_", "suffix": "_s"}, {"p_orders_s": 2, "p_items_s": 1}),
        ({"prefix": {"a": "x_", "": "y_"}}, {"x_orders": 1, "y_orders": 1, "x_items": 1}),
        ({"suffix": {"b": "_b"}}, {"orders": 1, "orders_b": 1, "items": 1}),
        ({"prefix": "p_", "table_names": {"ORDERS": "o"}}, {"o": 2, "p_items": 1}),
        ({"table_names": {"b.orders": "o"}}, {"o": 1, "orders": 1, "items": 1}),
        ({"including": r"a\..*"}, {"orders": 1, "items": 1}),
        ({"including": r"a\.ord"}, {}),
        ({"excluding": r".*\.items|b\..*"}, {"orders": 1}),
    ],
)
def test_names_and_choices(told: dict[str, Any], names: dict[str, Any]) -> None:
    plan = _plan({"a.orders": ORDERS, "b.orders": ORDERS, "a.items": ORDERS}, **told)

    found = {table.name.removeprefix("ods."): table.sources for table in plan.tables}
    assert not plan.refused
    assert set(found) == set(names)
    for name, sources in names.items():
        assert found[name] == sources or len(found[name]) == sources


def test_what_is_left_out_says_why() -> None:
    plan = _plan({"a.orders": ORDERS, "b.orders": ORDERS}, excluding="b.*")

    assert str(plan).splitlines()[-1] == "left out b.orders: excluding = 'b.*'"


def test_shards_become_the_wider_type_and_say_where_it_comes_from() -> None:
    wide = source("id BIGINT NOT NULL, day STRING, amount DECIMAL(12, 4), note STRING KEY(id)")

    plan = _plan({"a.orders": ORDERS, "b.orders": wide})

    assert [(column.name, column.type, column.reason) for column in plan.tables[0].columns] == [
        ("id", "BIGINT NOT NULL", ""),
        ("day", "STRING", ""),
        ("amount", "DECIMAL(12, 4)", "DECIMAL(10, 2) in a.orders; DECIMAL(12, 4) in b.orders"),
        ("note", "STRING", "not there in a.orders; STRING in b.orders"),
    ]


def test_shards_of_rows_become_the_row_with_the_fields_of_both() -> None:
    narrow = source("id BIGINT NOT NULL, who ROW<name STRING, age INT NOT NULL> KEY(id)")
    wide = source("id BIGINT NOT NULL, who ROW<age BIGINT, town STRING> KEY(id)")

    plan = _plan({"a.people": narrow, "b.people": wide})

    assert [column.type for column in plan.tables[0].columns] == [
        "BIGINT NOT NULL",
        "ROW<name STRING, age BIGINT, town STRING>",
    ]


def test_columns_keep_rows_of_shards_apart() -> None:
    keyless = source("no BIGINT")
    sources = {"a.orders": ORDERS, "b.orders": ORDERS, "a.log": keyless}

    plan = _plan(sources, shard_columns=("_db", "_table"), metadata=["table_name"])

    log, orders = plan.tables
    assert orders.primary_keys == ("id", "_db", "_table")
    assert [(column.name, column.type) for column in orders.columns[3:]] == [
        ("_db", "STRING NOT NULL"),
        ("_table", "STRING NOT NULL"),
        ("table_name", "STRING NOT NULL"),
    ]
    assert not orders.notes
    assert (log.primary_keys, [column.name for column in log.columns]) == (
        (),
        ["no", "_db", "_table", "table_name"],
    )
    chosen = _plan(sources, shard_columns=("_db",), primary_keys={"orders": ["_db", "id"]})
    assert chosen.tables[1].primary_keys == ("_db", "id")
    with pytest.raises(ValueError, match="shard_columns"):
        _plan(sources, shard_columns=("a", "b", "c"))
    with pytest.raises(ValueError, match="both in shard_columns and in metadata"):
        _plan(sources, shard_columns=("table_name",), metadata=["table_name"])


def test_keys_and_partitions_can_be_told() -> None:
    keyless = source("id BIGINT, day STRING")

    plan = _plan(
        {"a.t": keyless, "a.u": keyless},
        primary_keys={"t": ["id", "day"]},
        partition_keys={"t": ["day"]},
    )

    t, u = plan.tables
    assert (t.primary_keys, t.partition_keys, t.has_own_key) == (("id", "day"), ("day",), True)
    assert [column.type for column in t.columns] == ["BIGINT NOT NULL", "STRING NOT NULL"]
    assert (u.primary_keys, u.partition_keys) == ((), ())
    assert "no primary key: rows are appended" in u.notes[0]


@pytest.mark.parametrize(
    ("sources", "told", "reason"),
    [
        ({"a.t": source("v INT")}, {"primary_keys": ["id"]}, "key column 'id' is not in the"),
        ({"a.t": source("v INT")}, {"partition_keys": ["d"]}, "partition column 'd' is not in"),
        (
            {"a.t": source("v INT"), "b.t": source("v STRING")},
            {},
            r"a.t and b.t cannot become one table: column 'v' is INT in one and STRING in another",
        ),
        (
            {"a.t": source("v INT"), "a_t.x": source("v INT")},
            {"merge_shards": False, "table_names": {"a.t": "a_t_x"}},
            "a.t and a_t.x would both become ods.a_t_x: give table_names",
        ),
        ({"a.t": source("v INT")}, {"options": {"bucket": "x"}}, "cannot be created"),
        ({"a.t": source("_VALUE_KIND INT")}, {}, "cannot be created"),
        ({"a.t": SourceSchema(columns=(), is_partial=True)}, {}, "no column of the source"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    sources: dict[str, SourceSchema], told: dict[str, Any], reason: str
) -> None:
    plan = _plan(sources, **told)

    assert not plan.tables
    assert len(plan.refused) == 1
    assert reason in plan.refused[0].reason


def test_a_table_without_a_key_among_others_with_buckets_says_what_to_do() -> None:
    sources = {"a.t": source("id INT KEY(id)"), "a.log": source("id INT")}
    plan = ingest_plan(sources, {}, IngestRules(into="ods", options={"bucket": "2"}))
    assert [table.name for table in plan.tables] == ["ods.t"]
    assert "by a job without bucket" in plan.refused[0].reason


def test_a_table_that_exists_is_altered() -> None:
    there = _table({"id": "BIGINT", "day": "STRING"}, ("id",))

    plan = _plan(
        {"a.orders": ORDERS}, {"ods.orders": there}, options={"snapshot.num-retained.max": 50}
    )

    assert plan.tables[0].action == "alter"
    assert plan.tables[0].changes == (
        AddColumn("amount", parse_type("DECIMAL(10, 2)"), None),
        SetOption("snapshot.num-retained.max", "50"),
    )


@pytest.mark.parametrize(
    ("columns", "keys", "told", "reason"),
    [
        ({"id": "BIGINT", "day": "INT"}, ("id",), {}, "column 'day' is INT, which cannot become"),
        ({"id": "BIGINT", "day": "STRING"}, ("day",), {}, "exists with primary key (day)"),
        ({"id": "INT", "day": "STRING"}, ("id",), {}, "cannot be given another type"),
        ({"id": "BIGINT"}, ("id",), {"partition_keys": ["day"]}, "exists partitioned by ()"),
        ({"id": "BIGINT"}, ("id",), {"options": {"bucket": 3}}, "bucket"),
    ],
)
def test_a_table_that_exists_and_does_not_fit_is_refused(
    columns: dict[str, str], keys: tuple[str, ...], told: dict[str, Any], reason: str
) -> None:
    there = _table(columns, keys, bucket="2")

    plan = _plan({"a.orders": ORDERS}, {"ods.orders": there}, **told)

    assert not plan.tables
    assert reason in plan.refused[0].reason


def test_what_was_followed_so_far_is_planned_not_what_the_source_is_now() -> None:
    now = source("id BIGINT NOT NULL KEY(id)")
    there = _table({"id": "BIGINT", "day": "STRING", "amount": "DECIMAL(10, 2)"}, ("id",))

    plan = ingest_plan(
        {"a.orders": now},
        {"ods.orders": there},
        IngestRules(into="ods"),
        known={"a.orders": ORDERS},
    )

    assert plan.tables[0].action == "write"


def test_what_is_not_here_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="type_mapping = "):
        refuse_missing({"type_mapping": ["to-string"]})
    with pytest.raises(TypeError, match="'colour'"):
        refuse_missing({"colour": 1})


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"including": "("}, r"including = '\('"),
        ({"on_truncate": "drop"}, "on_truncate = 'drop'"),
        ({"on_error": "go on"}, "on_error = 'go on'"),
    ],
)
def test_wrong_words_are_refused(told: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IngestRules(into="ods", **told)
