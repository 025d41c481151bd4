"""What the tree shows: pages of entries, each with what it puts into a cell."""

from __future__ import annotations

from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.errors import NotFoundError
from paimonlab.server import details, explorers, warehouses
from paimonlab.server.tree import MOST_ENTRIES, children
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from paimonlab.spec.view import View
from paimonlab.storage import LocalFileIO
from tests.catalog.kept import KeepingCatalog
from tests.server.conftest import KEY, ORDERS


def shown(root: Path, *path: str, **page: int) -> list[tuple[str, str, str]]:
    entries = children(root, path, **page).entries
    return [(entry.label, entry.detail, entry.insert) for entry in entries]


def test_entries_say_what_they_are(root: Path) -> None:
    assert shown(root, KEY) == [("sales", "", "sales")]
    assert shown(root, KEY, "sales") == [("orders", "", "sales.orders")]
    assert [name for name, _, _ in shown(root, *ORDERS)] == [
        *("columns", "snapshots", "tags", "branches", "partitions")
    ]
    assert shown(root, *ORDERS, "columns") == [
        ("id", "BIGINT · primary key", "id"),
        ("day", "STRING · primary key · partition", "day"),
        ("buyer", "STRING", "buyer"),
    ]
    assert shown(root, *ORDERS, "snapshots") == [
        ("2", "+3 rows · append", "VERSION AS OF 2"),
        ("1", "+3 rows · append", "VERSION AS OF 1"),
    ]
    assert shown(root, *ORDERS, "tags") == [
        ("first", "snapshot 1 · +3 rows · append", "VERSION AS OF 'first'")
    ]
    (partition, _, _), _ = shown(root, *ORDERS, "partitions")
    assert partition == "day=2026-01-01"


def test_a_page_has_no_more_entries_than_asked_for(root: Path) -> None:
    names = {f"c{number}": "INT" for number in range(1_200)}
    pl.connect(root / "work" / "shop").create_table("sales.wide", names)
    wide = (KEY, "sales", "wide", "columns")

    first = children(root, wide, limit=MOST_ENTRIES)
    rest = children(root, wide, offset=MOST_ENTRIES, limit=MOST_ENTRIES)

    assert (len(first.entries), len(rest.entries), rest.total) == (1_000, 200, 1_200)
    assert rest.entries[0].name == "c1000"
    with pytest.raises(ValueError, match="limit"):
        children(root, wide, limit=MOST_ENTRIES + 1)


@pytest.mark.parametrize("path", [(*ORDERS, "secrets"), (*ORDERS, "columns", "id"), (KEY, "no")])
def test_nothing_is_below_what_is_not_there(root: Path, path: tuple[str, ...]) -> None:
    with pytest.raises(NotFoundError):
        children(root, path)


def test_details_say_what_a_table_is_and_how_large(root: Path) -> None:
    found = details.details(root, ORDERS)
    state = details.state(root, ORDERS)

    assert found.headline == "Snapshot 2, append: +3 rows"
    facts = dict(found.facts)
    assert (facts["comment"], facts["primary key"]) == ("What was bought", "id, day")
    assert dict(state.facts)["rows"] == "6 before merging"
    assert state.problem == ""


def test_a_search_finds_tables_and_columns(root: Path) -> None:
    assert [(hit.kind, hit.label) for hit in details.search(root, [KEY], "BUY").hits] == [
        ("column", "sales.orders.buyer")
    ]
    assert details.search(root, [KEY], "order").hits[0].path == ORDERS


def test_a_search_goes_on_where_something_cannot_be_read(root: Path) -> None:
    shop = root / "work" / "shop"
    (shop / "<b>.db").mkdir()
    (shop / "sales.db" / "buyers" / "schema").mkdir(parents=True)
    (shop / "sales.db" / "buyers" / "schema" / "schema-0").write_text("{")

    assert [hit.label for hit in details.search(root, [KEY], "buyer").hits] == [
        *("sales.buyers", "sales.orders.buyer")
    ]


@pytest.mark.parametrize("kind", explorers.EXPLORERS)
def test_every_explorer_gives_what_the_renderer_draws(root: Path, kind: str) -> None:
    data = explorers.explorer(root, ORDERS, kind)

    assert data["v"] == 1
    assert data["kind"] == ("result" if kind == "preview" else kind)


def test_a_preview_is_of_a_snapshot_or_tag(root: Path) -> None:
    for at in ("1", "first"):
        data = explorers.explorer(root, ORDERS, "preview", at)
        assert data["view"]["rowCount"] == 3


def test_a_preview_of_what_one_commit_did_compares_it_with_the_one_before(root: Path) -> None:
    changes = explorers.explorer(root, ORDERS, "changes", "2")["view"]
    assert (changes["start"], changes["end"]) == ("1", "2")
    diff = explorers.explorer(root, ORDERS, "diff", "2")["view"]
    assert (diff["before"]["snapshotId"], diff["after"]["snapshotId"]) == (1, 2)


def test_views_are_listed_between_tables_and_have_columns(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = KeepingCatalog(str(root / "work" / "shop"), LocalFileIO())
    monkeypatch.setattr(warehouses, "connect", lambda _: catalog)
    field = DataField(0, "buyer_name", parse_type("STRING"))
    view = View(
        fields=(field,), query="SELECT 1", dialects={"spark": "SELECT buyer"}, comment="who"
    )
    catalog.create_view("sales.buyers", view)

    listed = children(root, (KEY, "sales")).entries
    assert [(entry.kind, entry.label) for entry in listed] == [
        *(("view", "buyers"), ("table", "orders"))
    ]
    assert shown(root, KEY, "sales", "buyers") == [("buyer_name", "STRING", "buyer_name")]
    found = details.details(root, (KEY, "sales", "buyers"))
    assert (found.headline, found.query) == ("A view of 1 column", "SELECT buyer")
    assert dict(found.facts) == {"comment": "who", "dialects": "spark"}
    assert [hit.path[2:] for hit in details.search(root, [KEY], "buyer").hits] == [
        *(("orders", "columns", "buyer"), ("buyers",), ("buyers", "buyer_name"))
    ]
    assert details.details(root, ORDERS).query == ""
