"""Tables that Java wrote, compacted by us: every row stays, and Java's vectors are obeyed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError
from tests.golden.expected import Case, cases, expected
from tests.java_values import java_rows, unordered

KEYED = [
    case
    for case in cases()
    if case.writer.startswith("java")
    and case.refusal is None
    and case.unreadable is None
    and case.recorded_at is None
    and expected(case).is_keyed
    and not case.table.endswith("postpone")  # has rows that nobody sees yet: see below
]
NOT_ALTERED = {
    "java-0.9/pk_partial": (SchemaError, "needs a sequence group"),
}
"""Tables whose definition Java took then and no option may be set for here."""
POSTPONED = [case for case in cases() if case.table.endswith("postpone")]
MERGED = {"deletion-vectors.merge-on-read": "true"}


@pytest.mark.parametrize("case", KEYED, ids=str)
def test_no_row_is_lost(case: Case, tmp_path: Path) -> None:
    answers = expected(case)
    name = answers.document["table"]
    database, _, folder = name.partition(".")
    shutil.copytree(answers.path, tmp_path / f"{database}.db" / folder)
    catalog = pl.connect(tmp_path)
    if refusal := NOT_ALTERED.get(str(case)):
        with pytest.raises(refusal[0], match=refusal[1]):
            catalog.alter_table(name, pl.SetOption("write-only", "true"))
        return
    table = catalog.alter_table(name, pl.SetOption("write-only", "true"))
    waits = table.options.get("merge-engine") == "first-row"
    has_vectors = table.options.get("deletion-vectors.enabled") == "true"
    before = table.scan(options=MERGED if has_vectors else {})
    fields = [before.schema.field(column) for column in before.columns]
    rows = unordered(java_rows(before.to_arrow(), fields))

    result = table.compact(full=True)

    after = unordered(java_rows(table.scan().to_arrow(), fields))
    assert set(rows) <= set(after) if waits else rows == after
    if result.snapshot is not None:
        plan = table.scan().plan_here()
        assert all(split.raw_convertible for split in plan.splits)
        assert not any(split.has_deletions for split in plan.splits)
        assert set(plan.files["level"].to_pylist()) <= {
            max(plan.files["level"].to_pylist(), default=0)
        }
    assert table.fsck(deep=True).findings == ()


@pytest.mark.parametrize("case", POSTPONED, ids=str)
def test_rows_that_wait_are_seen(case: Case, tmp_path: Path) -> None:
    answers = expected(case)
    name = answers.document["table"]
    database, _, folder = name.partition(".")
    shutil.copytree(answers.path, tmp_path / f"{database}.db" / folder)
    table = pl.connect(tmp_path).table(name)
    assert isinstance(table, pl.Table)
    before = table.scan().to_arrow().to_pylist()
    late = [{"dt": "d2", "a": 5, "b": "late"}]
    if case.writer.startswith("pypaimon"):
        late = [{"a": number, "b": f"v{number}"} for number in range(5)]

    result = table.compact()

    after = table.scan().to_arrow().to_pylist()
    assert sorted(after, key=str) == sorted([*before, *late], key=str)
    assert result.buckets[0].before.rows == len(late)
    assert table.fsck(deep=True).findings == ()
