"""What a cell shows that ends with an object of a table."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab import cards_by_name
from paimonlab.notebook.views.objects import cards
from paimonlab.table.table import Table

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "BIGINT", HOSTILE: "STRING", "v": "INT"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": 2})
    table.write([{"id": 1}, {"id": 2}], properties={"job": HOSTILE})
    table.tags.create("v1")
    return table


def test_every_object_has_a_card_without_markup_of_others(table: Table, tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    shell = InteractiveShell()
    cards_by_name.register(shell)
    formatter = shell.display_formatter
    assert formatter is not None
    shown: list[tuple[Any, str]] = [
        (catalog, "Catalog"),
        (table, "Table db.t"),
        (table.schema, "primary key"),
        (table.snapshot, "+2"),
        (table.tags["v1"], "Tag 1"),
        (table.snapshots, "append"),
        (table.tags, "v1"),
        (table.scan(), "Scan of db.t"),
        (table.changes(0, 1), "Changes of db.t"),
    ]

    for each, text in shown:
        html = formatter.format(each)[0]["text/html"]
        assert text in html
        assert "<img" not in html


def test_a_notebook_that_only_imports_the_package_shows_cards(table: Table) -> None:
    code = (
        "import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "formatter = InteractiveShell.instance(history_length=0).display_formatter\n"
        "import paimonlab\n"
        "assert not {'pyarrow', 'paimonlab.notebook'} & set(sys.modules)\n"
        "table = paimonlab.connect(sys.argv[1]).table('db.t')\n"
        "print(formatter.format(table)[0]['text/html'])"
    )
    warehouse = str(Path(table.path).parents[1])
    environment = {**os.environ, "IPYTHONDIR": warehouse}
    done = subprocess.run(
        [sys.executable, "-c", code, warehouse],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )

    assert "Table db.t" in done.stdout


def test_a_card_of_a_table_says_what_it_is(table: Table) -> None:
    card = cards.of_table(table)

    for text in ("BIGINT NOT NULL", "primary key", "bucket = 2", "2 rows before merging", "append"):
        assert text in card


def test_a_card_says_first_what_happened_and_what_is_not_there(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    empty = catalog.create_table("db.t", {"id": "BIGINT"})

    said = cards.of_table(empty)
    assert said.index("Table db.t") < said.index("No rows yet") < said.index("BIGINT")
    assert "none yet" in cards.of_snapshots(empty.snapshots)
    assert "none; .create() makes one" in cards.of_tags(empty.tags)
    empty.write([{"id": 1}])
    said = cards.of_table(empty.refresh())
    assert said.index("1 row, snapshot 1: append, +1 row") < said.index("BIGINT")


def test_a_card_hides_secrets(table: Table) -> None:
    schema = replace(table.schema, options={"fs.s3.secret-key": "hidden"})

    assert "hidden" not in cards.of_schema(schema)
    said = cards.of_schema(schema).replace("<wbr>", "")  # where a line of it may end
    assert "fs.s3.secret-key = ******" in said


def test_cards_of_large_things_are_bounded(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    wide = catalog.create_table("db.wide", {f"c{number}": "INT" for number in range(300)})
    for number in range(12):
        wide.write([{"c0": number}])

    assert "250 more columns" in cards.of_table(wide)
    assert len(cards.of_table(wide)) < 20_000
    assert "2 more older snapshots" in cards.of_snapshots(wide.snapshots)


def test_deterministic_cards_have_no_times_and_users(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMONLAB_DETERMINISTIC", "1")
    snapshot = table.snapshot
    assert snapshot is not None

    for card in (cards.of_table(table), cards.of_snapshot(snapshot), cards.of_tags(table.tags)):
        assert not re.search(r"20\d\d-", card)
        assert snapshot.commit_user not in card
