"""Random merges against a list of rows, in every kind of table."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import paimonlab
from paimonlab.table.changing.merge import Merge
from paimonlab.table.table import Table
from tests.repetitions import times
from tests.table.changing.test_changing_model import (
    DEFINITION,
    KINDS,
    Kind,
    Row,
    data,
    found,
    no_junk,
)

TRACKED = {"rows with ids": Kind({"row-tracking.enabled": "true"})}
ALL_KINDS = KINDS | TRACKED


@dataclass
class When:
    """A clause, in SQL and in Python."""

    add: Callable[[Merge], Merge]
    test: Callable[[Row, Row], bool | None]
    become: Callable[[Row, Row], Row | None]


def matched(hand: random.Random) -> list[When]:
    number = hand.randint(-3, 3)
    delete = When(
        lambda merge: merge.when_matched_delete(where=f"s.n > {number}"),
        lambda _, s: None if s[2] is None else s[2] > number,
        lambda _, __: None,
    )
    some = When(
        lambda merge: merge.when_matched_update(
            {"n": "coalesce(s.n, t.k) + 1", "s": "'some'"}, where="t.s IS NULL OR t.s = s.s"
        ),
        lambda t, s: t[3] is None or (None if s[3] is None else t[3] == s[3]),
        lambda t, s: (t[0], t[1], (t[1] if s[2] is None else s[2]) + 1, "some"),
    )
    rest = When(
        lambda merge: merge.when_matched_update({"s": "t.p || coalesce(s.s, '-')"}),
        lambda _, __: True,
        lambda t, s: (t[0], t[1], t[2], t[0] + (s[3] or "-")),
    )
    chosen = [when for when in (delete, some) if hand.random() < 0.6]
    hand.shuffle(chosen)
    return [*chosen, *([rest] if hand.random() < 0.5 else [])]


def not_matched(hand: random.Random) -> list[When]:
    some = When(
        lambda merge: merge.when_not_matched_insert(
            {"p": "s.p", "k": "s.k", "s": "upper(s.s)"}, where="s.n IS NULL"
        ),
        lambda _, s: s[2] is None,
        lambda _, s: (s[0], s[1], None, None if s[3] is None else s[3].upper()),
    )
    rest = When(lambda merge: merge.when_not_matched_insert(), lambda _, __: True, lambda _, s: s)
    return [when for when in (some, rest) if hand.random() < 0.6]


def not_matched_by_source(hand: random.Random) -> list[When]:
    number = hand.randint(0, 30)
    delete = When(
        lambda merge: merge.when_not_matched_by_source_delete(where=f"t.k < {number}"),
        lambda t, _: t[1] < number,
        lambda _, __: None,
    )
    update = When(
        lambda merge: merge.when_not_matched_by_source_update({"n": 99}, where="n IS NULL"),
        lambda t, _: t[2] is None,
        lambda t, _: (t[0], t[1], 99, t[3]),
    )
    return [when for when in (delete, update) if hand.random() < 0.3]


def decided(rows: list[When], target: Row, source: Row) -> When | None:
    return next((when for when in rows if when.test(target, source) is True), None)


@pytest.mark.parametrize("name", ALL_KINDS)
def test_a_merge_does_what_a_list_says(name: str, tmp_path: Path) -> None:
    kind = ALL_KINDS[name]
    seed = int(os.environ.get("PAIMONLAB_SEED", random.randrange(10**6)))
    print("PAIMONLAB_SEED", seed, "kind", name)  # noqa: T201 - shown when the test fails
    hand = random.Random(seed)
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        DEFINITION,
        primary_keys=kind.keys,
        partition_keys=kind.partitions,
        options=kind.options,
    )
    assert isinstance(table, Table)
    on = kind.keys or hand.choice([("k",), ("p", "k")])
    rows: list[Row] = []

    for _ in range(times(6)):
        rows = merged(table, on, rows, hand)
        assert found(table.scan()) == Counter(rows)

    assert no_junk(table) == []


def merged(table: Table, on: tuple[str, ...], rows: list[Row], hand: random.Random) -> list[Row]:
    """Merge random rows into a table; return the rows it should have."""
    places = [("p", "k").index(name) for name in on]

    def key(row: Row) -> tuple[object, ...]:
        return tuple(row[place] for place in places)

    new = [a_row(hand) for _ in range(hand.randint(1, 12))]
    source = {key(row): row for row in new}
    whens = matched(hand), not_matched(hand), not_matched_by_source(hand)
    merge = table.merge(data(list(source.values())), " AND ".join(f"t.{c} = s.{c}" for c in on))
    for when in (when for of_kind in whens for when in of_kind):
        merge = when.add(merge)
    if not any(whens):
        with pytest.raises(ValueError, match="needs a clause"):
            merge.execute()
        return rows

    after: list[Row] = []
    updated = deleted = inserted = 0
    for row in rows:
        other = source.get(key(row))
        decides = decided(whens[2] if other is None else whens[0], row, other or row)
        new_row = row if decides is None else decides.become(row, other or row)
        updated += decides is not None and new_row is not None
        deleted += new_row is None
        after += [] if new_row is None else [new_row]
    there = {key(row) for row in rows}
    for name, other in source.items():
        inserts = None if name in there else decided(whens[1], other, other)
        if inserts is not None:
            after.append(inserts.become(other, other) or other)
            inserted += 1

    before = table.snapshot
    result = merge.execute()

    counts = (result.rows_inserted, result.rows_updated, result.rows_deleted)
    assert counts == (inserted, updated, deleted)
    assert (result.snapshot is None) == (not any(counts))
    if not any(counts):
        assert table.snapshot == before
    return after


def a_row(hand: random.Random) -> Row:
    number = None if hand.random() < 0.3 else hand.randint(-5, 5)
    text = None if hand.random() < 0.3 else hand.choice("abcä")
    return (hand.choice("xyz"), hand.randint(0, 30), number, text)
