"""The tree of manifests beside what Java says, and how it is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import SnapshotNotFoundError
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import VARIABLE
from paimonlab.notebook.views.manifests.drawing import draw
from paimonlab.table.table import Table
from tests.analysis.manifests.test_manifests import entries_of, golden_table
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page


def tree_of(table: Table, **options: Any) -> views.ManifestTree:
    value = commands.manifests(table, **options).value
    assert isinstance(value, views.ManifestTree)
    return value


def test_what_the_parent_has_too_is_counted() -> None:
    table = golden_table("cl_lookup")
    latest = table.snapshot
    assert latest is not None

    trees = {number: tree_of(table, snapshot=number) for number in (latest.id - 1, latest.id)}

    before, after = (
        {
            one.name
            for listed in tree.lists
            if listed.role != "changelog"
            for one in listed.manifests
        }
        for tree in trees.values()
    )
    assert trees[latest.id].shared_count == len(before & after) == 3
    assert trees[latest.id].manifest_count == len(after) == 4
    assert "4 manifests with 8 entries, 3 of them also in snapshot 3" in repr(
        draw(trees[latest.id])
    )
    assert tree_of(table, snapshot=1).parent_id is None


def test_entries_that_are_not_part_of_it_are_counted() -> None:
    table = golden_table("lsm")

    view = commands.manifests(table, entries=5)

    tree = view.value
    assert isinstance(tree, views.ManifestTree)
    assert (tree.shown_count, tree.entry_count) == (5, 20)
    assert len(entries_of(tree, "delta")) == 1  # first what the commit did
    assert "5 of 20 entries; show.manifests(entries=N) for more" in repr(view)
    with pytest.raises(ValueError, match="entries must be 0 or more, got -1"):
        commands.manifests(table, entries=-1)


def test_the_kernel_finds_files_in_all_entries_and_shows_other_snapshots() -> None:
    table = golden_table("lsm")
    view = commands.manifests(table, entries=0)
    name = table.scan().plan().splits[0].files[0].file_name
    assert isinstance(view, Drawn)
    assert view.answer is not None

    found = view.answer({"snapshot": view.value.snapshot_id, "find": name})
    other = view.answer({"snapshot": 2})

    assert {entry["file"] for entry in found["entries"]} == {name}
    assert found["count"] == len(found["entries"])
    assert other["view"]["snapshotId"] == 2


def test_the_kernel_finds_the_entries_of_a_bucket() -> None:
    table = golden_table("dyn_part")
    view = commands.manifests(table, entries=0)
    assert isinstance(view, Drawn)
    assert view.answer is not None
    place = {"partition": "dt=d0", "bucket": 1}

    found = view.answer({"snapshot": view.value.snapshot_id, "find": "", **place})

    whole = tree_of(table)
    everything = entries_of(whole, *(one.role for one in whole.lists))
    wanted = [one.file for one in everything if (one.partition, one.bucket) == ("dt=d0", 1)]
    assert [one["file"] for one in found["entries"]] == wanted
    assert found["count"] == len(wanted) < len(everything)


def test_what_is_not_there_is_an_error() -> None:
    table = golden_table("lsm")

    with pytest.raises(SnapshotNotFoundError):
        commands.manifests(table, snapshot=999)


def test_a_table_without_snapshots_says_so(tmp_path: Any) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT"})

    view = table.show.manifests()

    assert isinstance(view, Drawn)
    said = "db.t has no snapshot yet\nRows are added by INSERT INTO db.t VALUES …"
    assert repr(view).startswith(said)
    assert "INSERT INTO db.t VALUES …" in view.to_html()
    assert "no snapshot yet" in view.to_markdown()
    assert view.to_arrow().num_rows == 0
    assert (view.value.snapshot_id, view.value.lists) == (None, ())
    with pytest.raises(SnapshotNotFoundError):
        table.show.manifests(snapshot=1)
    table.write(pa.table({"id": [1]}))
    assert view.answer is not None
    assert view.answer({"snapshot": 1})["view"]["snapshotId"] == 1


def test_it_is_the_same_after_another_run(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    runs = []
    for run in ("a", "b"):
        catalog = paimonlab.connect(tmp_path / run)
        catalog.create_database("db")
        table = catalog.create_table("db.t", {"id": "BIGINT"})
        for number in range(3):
            table.write(pa.table({"id": [number]}))
        view = commands.manifests(table)
        assert isinstance(view, Drawn)
        runs.append(replace(view, id="view-1")._repr_mimebundle_())

    assert runs[0] == runs[1]
    assert "data#1" in runs[0]["text/plain"]
    assert "B itself" not in runs[0]["text/plain"]


def test_html_is_a_tree_that_sanitisers_leave_alone() -> None:
    page = Page(commands.manifests(golden_table("lookup_dv")).to_html())

    assert {"details", "summary"} <= page.tags
    assert page.tags <= KEPT_TAGS
    assert page.attributes <= {*KEPT_ATTRIBUTES, "open"}


def test_names_and_values_cannot_break_out() -> None:
    tree = tree_of(golden_table("cl_lookup"))
    long = EVIL + "x" * 10_000
    entry = msgspec.structs.replace(
        entries_of(tree, "delta")[0], file=long, partition=EVIL, min_key="=cmd()", low=(EVIL, "")
    )
    manifest = msgspec.structs.replace(tree.lists[1].manifests[0], name=EVIL, entries=(entry,))
    listed = msgspec.structs.replace(tree.lists[1], name=EVIL, manifests=(manifest,))
    drawn = draw(msgspec.structs.replace(tree, table=EVIL, columns=(EVIL, "b"), lists=(listed,)))

    page = Page(drawn.to_html())

    assert "script" not in page.tags
    assert "\u202e" not in drawn.to_html() + drawn.to_text()
    assert "".join(page.texts).count("<script>alert(1)</script>") >= 5


def test_text_is_indented() -> None:
    lines = repr(commands.manifests(golden_table("cl_lookup"))).splitlines()

    assert lines[0] == "db.cl_lookup: manifests of snapshot 4, compact"
    assert [line[:6] for line in lines[4:8]] == ["base m", "  mani", "    + ", "  mani"]


def test_rows_are_the_entries() -> None:
    rows = commands.manifests(golden_table("cl_lookup")).to_arrow()

    assert rows.column("change").to_pylist().count("DELETE") == 3
    assert sum(rows.column("rows").to_pylist()) > 0
