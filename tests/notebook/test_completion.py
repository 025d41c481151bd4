from __future__ import annotations

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from paimonlab.notebook import load_ipython_extension
from paimonlab.notebook.completion import candidates

TABLES = ["air.flights", "air.carriers", "sea.ships"]


@pytest.mark.parametrize(
    ("before", "word", "found"),
    [
        ("%paimon_timeline air.f", "air.f", ["air.flights"]),
        ("%paimon_timeline ", "", ["air.carriers", "air.flights", "sea.ships"]),
        ("%%paimon\nSELECT *\nFROM air.", "air.", ["air.carriers", "air.flights"]),
        ("%%paimon\nSELECT * FROM air.flights$sn", "air.flights$sn", ["air.flights$snapshots"]),
        ("x = 1\nx = %paimon SELECT * FROM sea", "sea", ["sea.ships"]),
        ("%%paimon\nSELECT * FROM t WHERE a = :d", ":d", [":day"]),
        ("%%paimon --l", "--l", ["--limit"]),
        ("%paimon_help sy", "sy", ["system tables"]),
        ("%%paimon", "paimon", []),
        ("print(air.", "air.", []),
        ("x = 5 % paimon", "paimon", []),
    ],
)
def test_names_fit_where_the_cursor_is(before: str, word: str, found: list[str]) -> None:
    assert candidates(before, ["day", "_dir", "x"], lambda: TABLES) == (word, found)


def test_the_shell_offers_tables_and_replaces_the_whole_word(connected: InteractiveShell) -> None:
    load_ipython_extension(connected)  # again, as %reload_ext does
    cell = "%%paimon\nSELECT * FROM air.flights$s"
    assert connected.Completer is not None

    with provisionalcompleter():
        found = list(connected.Completer.completions(cell, len(cell)))

    completed = [cell[: one.start] + one.text + cell[one.end :] for one in found]
    assert sorted(completed) == [
        "%%paimon\nSELECT * FROM air.flights$schemas",
        "%%paimon\nSELECT * FROM air.flights$snapshots",
        "%%paimon\nSELECT * FROM air.flights$statistics",
    ]
    assert len(connected.Completer.custom_matchers) == 1
