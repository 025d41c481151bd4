"""Columns of what a source knows of rows beside their values."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.ingest import MetadataSource, files
from paimonlab.ingest.changes import RowChanges, SourceSchema
from paimonlab.ingest.formats.debezium_json import DebeziumJson
from paimonlab.ingest.formats.messages import METADATA_TYPES, messages_of
from paimonlab.ingest.formats.settings import FormatSettings
from paimonlab.ingest.plan import ingest_plan
from paimonlab.ingest.rules import IngestRules
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import parse_type
from tests.ingest.drawing import source
from tests.ingest.scripted import ScriptedSource, rows

KEYED = "id BIGINT NOT NULL, v STRING KEY(id)"
OP_TS = "TIMESTAMP(3) WITH LOCAL TIME ZONE"


@dataclass
class _Telling(ScriptedSource):
    metadata_types: Mapping[str, DataType] = field(
        default_factory=lambda: {"op_ts": parse_type(OP_TS)}
    )


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path / "warehouse")


def _stored(catalog: pm.Catalog, name: str = "ods.t") -> list[tuple[Any, ...]]:
    found = catalog.table(name).scan().to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def test_metadata_comes_after_computed_columns(catalog: pm.Catalog) -> None:
    first = rows("a.t", KEYED, "+I 1 a", "+I 2 b")
    times = pa.array([5, None], pa.timestamp("ms", tz="UTC"))
    script = [replace(first, metadata={"op_ts": times}), rows("a.t", KEYED, "+I 3 c"), "|"]
    made = _Telling(script, {"a.t": source(KEYED)})

    job = catalog.ingest(
        made,
        into="ods",
        name="job",
        computed={"up": "upper(v)"},
        metadata=["op_ts", "table_name", "database_name"],
        options={"bucket": 1},
    )

    assert str(job.plan()).splitlines()[3:] == [
        "  up             STRING                             computed: upper(v)",
        f"  op_ts          {OP_TS}  metadata of the source",
        "  table_name     STRING NOT NULL                    metadata of the source",
        "  database_name  STRING NOT NULL                    metadata of the source",
    ]
    job.run()
    assert _stored(catalog) == [
        (1, "a", "A", datetime(1970, 1, 1, 0, 0, 0, 5000, UTC), "t", "a"),
        (2, "b", "B", None, "t", "a"),
        (3, "c", "C", None, "t", "a"),
    ]


def test_shards_with_equal_keys_are_kept_apart(catalog: pm.Catalog) -> None:
    script = [
        rows("a.t", KEYED, "+I 1 a", "+I 2 a"),
        rows("b.t", KEYED, "+I 1 b"),
        "|",
        rows("a.t", KEYED, "-D 1 -"),
        "|",
    ]
    made = ScriptedSource(script, {"a.t": source(KEYED), "b.t": source(KEYED)})

    catalog.ingest(
        made,
        into="ods",
        name="job",
        metadata={"t": ["database_name"]},
        primary_keys=["database_name", "id"],
        options={"bucket": 1},
    ).run()

    assert _stored(catalog) == [(1, "b", "b"), (2, "a", "a")]


def test_what_a_source_does_not_give_is_refused_with_what_it_gives(catalog: pm.Catalog) -> None:
    made = _Telling([], {"a.t": source(KEYED)})

    with pytest.raises(UnsupportedError, match="gives database_name, op_ts, table_name") as caught:
        catalog.ingest(made, into="ods", name="job", metadata=["op_tz"])
    assert "'op_tz'" in str(caught.value)
    assert "Did you mean 'op_ts'" in str(caught.value)
    with pytest.raises(ValueError, match="'op_ts' is named twice"):
        catalog.ingest(made, into="ods", name="job", metadata={"t": ["op_ts", "op_ts"]})


@pytest.mark.parametrize(
    ("columns", "told", "reason"),
    [
        ("id INT, op_ts INT", {}, "metadata column 'op_ts': there is a column of this name"),
        ("id INT", {"computed": {"op_ts": "now()"}}, "metadata column 'op_ts': there is a column"),
        ("id INT", {"computed": {"h": "hour(op_ts)"}}, "no column 'op_ts' in the source (id)"),
    ],
)
def test_names_that_are_taken_are_refused_in_the_plan(
    columns: str, told: dict[str, Any], reason: str
) -> None:
    rules = IngestRules(
        into="ods", metadata=["op_ts"], metadata_types={"op_ts": parse_type(OP_TS)}, **told
    )

    plan = ingest_plan({"a.t": source(columns)}, {}, rules)

    assert reason in plan.refused[0].reason


def test_keys_of_metadata_are_noted() -> None:
    rules = IngestRules(
        into="ods",
        metadata=["op_ts", "table_name"],
        metadata_types={"op_ts": parse_type(OP_TS)},
        primary_keys=["id", "op_ts", "table_name"],
    )

    (table,) = ingest_plan({"a.t": source(KEYED)}, {}, rules).tables

    assert [note.partition(":")[0] for note in table.notes] == ["key column 'op_ts' is metadata"]


def test_metadata_of_another_type_than_was_said_is_an_error(catalog: pm.Catalog) -> None:
    changes = replace(rows("a.t", KEYED, "+I 1 a"), metadata={"op_ts": pa.array([5])})
    made = _Telling([changes, "|"], {"a.t": source(KEYED)})

    with pytest.raises(DataError, match="gave metadata 'op_ts' as int64, it says timestamp"):
        catalog.ingest(made, into="ods", name="job", metadata=["op_ts"]).run()


def test_files_tell_their_paths(catalog: pm.Catalog, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name in ("sub/a.csv", "b.csv"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"v\n{name}\n", encoding="utf-8")
        os.utime(path, (time.time() - 60,) * 2)

    catalog.ingest(files(folder, table="a.t"), into="ods", name="job", metadata=["file"]).run()

    assert _stored(catalog) == [("b.csv", "b.csv"), ("sub/a.csv", "sub/a.csv")]


def test_messages_have_the_metadata_that_kafka_names() -> None:
    text = b'{"before":null,"after":{"id":1},"source":{"db":"d","table":"t"},"op":"c","ts_ms":7}'

    (changes,) = DebeziumJson(FormatSettings())(messages_of([text], first_offset=9))

    assert isinstance(changes, RowChanges)
    assert {name: array.type for name, array in changes.metadata.items()} == {
        name: to_arrow(kind) for name, kind in METADATA_TYPES.items()
    }
    assert changes.metadata["offset"].to_pylist() == [9]


def test_sources_that_tell_nothing_have_the_names_of_tables() -> None:
    made: SourceSchema = source(KEYED)

    assert not isinstance(ScriptedSource([], {"a.t": made}), MetadataSource)
    assert isinstance(files("."), MetadataSource)


def test_shards_with_equal_keys_are_merged_row_by_row(catalog: pm.Catalog) -> None:
    script = [
        rows("s1.t", KEYED, "+I 1 a", "+I 2 b"),
        rows("s2.t", KEYED, "+I 1 x", "+I 2 y"),
        "|",
        rows("s1.t", KEYED, "-U 1 a", "+U 1 c"),
        rows("s2.t", KEYED, "-D 2 y"),
        "|",
    ]
    made = ScriptedSource(script, {"s1.t": source(KEYED), "s2.t": source(KEYED)})

    catalog.ingest(
        made, into="ods", name="job", shard_columns=["_db"], options={"bucket": 1}, max_rows=1
    ).run()

    assert _stored(catalog) == [(1, "c", "s1"), (1, "x", "s2"), (2, "b", "s1")]
    assert catalog.table("ods.t").primary_keys == ("id", "_db")
