"""Rows that were set aside and are put in later: a dict says what the table must have.

``PAIMONLAB_INGEST_TRANSACTIONS=100`` draws as many; a few are part of every run.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab.ingest import DeadLetter
from paimonlab.ingest.changes import Unreadable
from paimonlab.ingest.dead_letters import json_text
from paimonlab.ingest.job import Job
from paimonlab.ingest.replaying import _array
from paimonlab.ingest.steering import ask_of
from paimonlab.spec.schema.schema_changes import UpdateColumnType
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.text import parse_type
from tests.ingest.drawing import source
from tests.ingest.scripted import ScriptedSource, rows

KEYED = "id BIGINT NOT NULL, v VARCHAR(3) KEY(id)"
PLAIN = "id BIGINT, v VARCHAR(3)"
TRANSACTIONS = int(os.environ.get("PAIMONLAB_INGEST_TRANSACTIONS", "9"))


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    """A warehouse whose tables take texts of three characters."""
    made = pm.connect(tmp_path / "warehouse")
    made.create_database("ods")
    made.create_table("ods.t", {"id": "BIGINT", "v": "VARCHAR(3)"}, primary_keys=["id"])
    made.create_table("ods.log", {"id": "BIGINT", "v": "VARCHAR(3)"})
    return made


def _job(catalog: pm.Catalog, script: list[Any], **told: Any) -> Job:
    made = ScriptedSource(script, {"a.t": source(KEYED), "a.log": source(PLAIN)})
    given: dict[str, Any] = {"into": "ods", "name": "job", "max_dead": 1000, **told}
    return catalog.ingest(made, evolve="lenient", **given)


def _stored(catalog: pm.Catalog, name: str = "ods.t") -> list[tuple[Any, ...]]:
    found = catalog.table(name).scan().to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in found)


def _widen(catalog: pm.Catalog) -> None:
    for name in ("ods.t", "ods.log"):
        catalog.alter_table(name, UpdateColumnType("v", parse_type("STRING")))


def _script(draw: random.Random, count: int) -> tuple[list[Any], dict[int, str], list[Any]]:
    """Draw transactions; return them, and what tables have that take all."""
    script: list[Any] = []
    state: dict[int, str] = {}
    log = []
    for number in range(count):
        drawn = []
        for _ in range(draw.randrange(1, 5)):
            key, value = draw.randrange(8), "x" * draw.randrange(1, 6) + str(draw.randrange(10))
            if key in state and draw.random() < 0.2:
                drawn.append(f"-D {key} {state.pop(key)}")
                continue
            if key in state:
                drawn.append(f"-U {key} {state[key]}")
            drawn.append(f"{'+U' if key in state else '+I'} {key} {value}")
            state[key] = value
        logged = [(number, "y" * draw.randrange(1, 6)) for _ in range(2)]
        log += logged
        script += [
            rows("a.t", KEYED, *drawn),
            rows("a.log", PLAIN, *(f"+I {no} {what}" for no, what in logged)),
            "|",
        ]
    return script, state, log


@pytest.mark.parametrize("max_rows", [2, None])
def test_what_was_set_aside_and_is_put_in_is_as_if_it_had_fitted(
    catalog: pm.Catalog, max_rows: int | None
) -> None:
    seed = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.randrange(10**6)
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201 - shown when it fails
    draw = random.Random(seed)
    script, state, log = _script(draw, TRANSACTIONS)
    cut = draw.randrange(TRANSACTIONS) * 3
    _job(catalog, script[:cut], max_rows=max_rows).run()
    job = _job(catalog, script, max_rows=max_rows)  # another process, as after a kill
    dead = job.run().dead
    assert dead

    assert job.replay().rows == 0  # nothing was mended
    _widen(catalog)
    done = job.replay()

    assert done.rows + done.changed == dead
    assert _stored(catalog) == sorted(state.items())
    assert _stored(catalog, "ods.log") == sorted(log)
    assert job.replay().rows == 0
    later = _job(catalog, [*script, rows("a.t", KEYED, "+I 99 a"), "|"], max_rows=max_rows)
    assert later.run().dead == done.changed
    assert _stored(catalog) == sorted({**state, 99: "a"}.items())


def test_rows_are_mended_by_a_function(catalog: pm.Catalog) -> None:
    script = [
        rows("a.t", KEYED, "+I 1 long1", "+I 2 long2", "+I 3 long3"),
        "|",
        rows("a.t", KEYED, "+U 2 b"),
        "|",
    ]
    job = _job(catalog, script, max_rows=1)
    job.run()

    def mend(letter: DeadLetter) -> Mapping[str, Any] | None:
        assert letter.row is not None
        assert (letter.source_table, letter.kind) == ("a.t", "+I")
        assert "'v'" in letter.error
        return None if letter.row["id"] == 3 else {**letter.row, "v": letter.row["v"][:1]}

    done = job.replay(mend)

    assert (done.rows, done.changed, done.bad) == (1, 1, 1)
    assert "not mended" in done.errors[0]
    assert _stored(catalog) == [(1, "l"), (2, "b")]
    assert job.replay(lambda letter: {"id": 3, "colour": "x"}).errors == (
        "a.t: it has column 'colour', which the source has not",
    )
    assert job.replay(lambda letter: {"id": 3, "v": "c"}).rows == 1
    assert _stored(catalog) == [(1, "l"), (2, "b"), (3, "c")]


def test_of_two_rows_of_one_key_the_last_one_counts(catalog: pm.Catalog) -> None:
    script = [
        rows("a.t", KEYED, "+I 1 long1"),
        "|",
        rows("a.t", KEYED, "+I 1 long2"),
        "|",
        rows("a.t", KEYED, "+I 2 b", "+I 3 long3", "+U 3 c", "+I 4 long4"),
        "|",
    ]
    job = _job(catalog, script, max_rows=1)
    job.run()
    later = job.replay(lambda one: None if one.row == {"id": 1, "v": "long2"} else {"id": 4})
    assert (later.rows, later.changed, later.bad) == (1, 2, 1)
    assert _stored(catalog) == [(2, "b"), (3, "c"), (4, None)]
    _widen(catalog)
    done = job.replay()
    assert (done.rows, done.changed) == (1, 2)
    assert _stored(catalog) == [(1, "long2"), (2, "b"), (3, "c"), (4, None)]


def test_a_record_that_could_not_be_read_is_mended(catalog: pm.Catalog) -> None:
    broken = Unreadable(
        table="a.log",
        errors=pa.array(["no JSON", "no number"]),
        raw=pa.array([b"{id: 7", b"{}"]),
        rows=pa.array([None, '{"id": "seven", "v": "b"}']),
    )
    job = _job(catalog, [broken, "|"])
    job.run()
    assert job.replay().bad == 2
    done = job.replay(lambda letter: {"id": 7, "v": "a"} if letter.raw == b"{id: 7" else None)
    assert (done.rows, done.bad) == (1, 1)
    assert _stored(catalog, "ods.log") == [(7, "a")]


def test_a_running_job_puts_rows_in_and_reads_on(catalog: pm.Catalog) -> None:
    job = _job(catalog, [rows("a.log", PLAIN, "+I 1 long"), "|"], max_rows=1)
    job.run()
    other = _job(catalog, [])
    other._files.asked.add(ask_of("replay"))
    _widen(catalog)
    job = _job(
        catalog, [rows("a.log", PLAIN, "+I 1 long"), "|", rows("a.log", PLAIN, "+I 2 b"), "|"]
    )
    assert job.run().dead == 0
    assert _stored(catalog, "ods.log") == [(1, "long"), (2, "b")]
    assert [one.text for one in job.events if one.kind == "replayed"] == [
        "1 rows put in, 0 left aside as their keys changed since, 0 that cannot be stored"
    ]


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("DECIMAL(9, 2)", "1.50", Decimal("1.50")),
        ("DATE", "2024-02-29", date(2024, 2, 29)),
        ("TIMESTAMP(6)", "2024-02-29 01:02:03.000004", datetime(2024, 2, 29, 1, 2, 3, 4)),
        ("TIMESTAMP_LTZ(3)", "2024-02-29 01:02:03+00:00", datetime(2024, 2, 29, 1, 2, 3, 0, UTC)),
        ("BYTES", "00ff", b"\x00\xff"),
        ("ARRAY<INT>", [1, None], [1, None]),
        ("BOOLEAN", True, True),
        ("DOUBLE", 1.5, 1.5),
        ("BIGINT", 2**60, 2**60),
        ("TIME(0)", "23:59:01", time(23, 59, 1)),
    ],
)
def test_values_come_back_as_dead_letters_have_them(type_: str, text: Any, value: Any) -> None:
    found = _array(text, to_arrow(parse_type(type_)))
    assert found.to_pylist() == [value]
    assert json.loads(json_text(value)) == text
