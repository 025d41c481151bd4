"""Where compaction looks for older rows, deeper levels hold what was merged already."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.interop.pair import Pair

pytestmark = pytest.mark.interop

AGGREGATION = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
PARTIAL = {
    "merge-engine": "partial-update",
    "fields.v.aggregate-function": "sum",
    "fields.g.sequence-group": "v",
}
COLUMNS = {"k": "INT NOT NULL", "g": "INT", "v": "INT"}


@pytest.mark.parametrize("engine", [AGGREGATION, PARTIAL], ids=["aggregation", "partial-update"])
@pytest.mark.parametrize(
    "lookup",
    [
        {"changelog-producer": "lookup"},
        {"force-lookup": "true"},
        {"deletion-vectors.enabled": "true"},
    ],
    ids=str,
)
def test_rows_of_deeper_levels_are_not_merged_twice(
    pair: Pair, engine: Mapping[str, str], lookup: Mapping[str, str]
) -> None:
    options = {"bucket": "1", **engine, **lookup}
    pair.create("java", "db.t", COLUMNS, pk=["k"], partition=[], options=options)
    pair.java.write("db.t", [[key, 1, key] for key in range(20_000)])
    for turn in range(3):
        pair.java.write("db.t", [[key, 2 + turn, 1] for key in range(10)])
    levels = {values[5] for values in pair.java.rows("db.t$files")}
    assert levels == {4, 5}

    pair.assert_same("db.t")
    found = {key: value for key, _, value in pair.our_rows("db.t")}

    assert [found[key] for key in (0, 1, 9, 10)] == [3, 4, 12, 10]
