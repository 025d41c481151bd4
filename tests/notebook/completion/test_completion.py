"""What is offered at the cursor, which is drawn as ``|``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from msgspec import structs

import paimonlab
from paimonlab.notebook import commands, load_ipython_extension
from paimonlab.notebook.completion.completion import candidates
from paimonlab.notebook.completion.known_names import Answers, known_names
from paimonlab.notebook.completion.sql_completion import Names, sql_candidates
from paimonlab.notebook.connections import connection as connections

FLIGHTS = pa.schema(
    [
        ("month", pa.int32()),
        ("carrier", pa.string()),
        ("dep delay", pa.float64()),
        ("plane", pa.struct([("tail", pa.string()), ("size", pa.struct([("seats", pa.int32())]))])),
    ]
)
TABLES: Mapping[str, pa.Schema] = {
    "air.flights": FLIGHTS,
    "air.carriers": pa.schema([("carrier", pa.string()), ("name", pa.string())]),
    "sea.ships": pa.schema([("tonnage", pa.int64())]),
    "air.flights$files": pa.schema([("file_path", pa.string())]),
}
NAMES = Names(
    tables=lambda: [name for name in TABLES if "$" not in name],
    columns=lambda name: TABLES.get(name.removeprefix("paimon.")),
    points=lambda name: {"daily": "tag of snapshot 2", "2": "COMPACT"} if name else {},
    system_tables={"snapshots": "…", "schemas": "…", "files": "…"},
    functions=lambda: ["count", "concat", "sum"],
)
VARIABLES = {"day": "2026-01-01", "days": [1], "_dir": 1, "api_token": "hush", "f": len}


def offered(cell: str) -> tuple[str, dict[str, str]]:
    before, _, after = cell.partition("|")
    word, found = candidates(before, after, lambda: NAMES, VARIABLES, lambda _: ["--last"])
    return word, {one.text: one.about for one in found}


@pytest.mark.parametrize(
    ("cell", "word", "found"),
    [
        ("%paimon_timeline air.f|", "air.f", ["air.flights"]),
        ("%paimon_timeline |", "", ["air.carriers", "air.flights", "sea.ships"]),
        ("%paimon_timeline --l|", "--l", ["--last"]),
        ("%paimon_tables a|", "a", ["air"]),
        ("%paimon_help sy|", "sy", ["system tables"]),
        ("%paimon_history a|", "a", []),
        ("%%paimon --li|", "--li", ["--limit"]),
        ("x = %paimon --as|", "--as", ["--as-of"]),
        ("%%paimon|", "paimon", []),
        ("%%sql\nSELECT *\nFROM air.|", "air.", ["air.flights", "air.carriers"]),
        ("x = %sql SELECT * FROM s|", "s", ["sea.ships"]),
        ("%sqlite s|", "s", []),
        ("print(air.|", "air.", []),
        ("x = 5 % paimon|", "paimon", []),
        ("%%paimon\nSELECT *\nFROM air.|", "air.", ["air.flights", "air.carriers"]),
        ("%%paimon\nSELECT * FROM paimon.air.c|", "paimon.air.c", ["paimon.air.carriers"]),
        ("x = 1\nx = %paimon SELECT * FROM sea|", "sea", ["sea.ships"]),
        ("%%paimon\nSELECT * FROM air.flights a, s|", "s", ["sea.ships"]),
        ("%%paimon\nINSERT INTO s|", "s", ["sea.ships"]),
        (
            "%%paimon\nSELECT * FROM air.flights$s|",
            "air.flights$s",
            ["air.flights$snapshots", "air.flights$schemas"],
        ),
        ("%%paimon\nSELECT | FROM air.carriers", "", ["carrier", "name"]),
        ("%%paimon\nSELECT f.ca| FROM air.flights f", "f.ca", ["f.carrier"]),
        (
            "%%paimon\nSELECT f.| FROM air.flights AS f",
            "f.",
            [
                "f.month",
                "f.carrier",
                "f.`dep delay`",
                "f.plane",
            ],
        ),
        ("%%paimon\nSELECT flights.m| FROM air.flights", "flights.m", ["flights.month"]),
        ("%%paimon\nSELECT plane.| FROM air.flights", "plane.", ["plane.tail", "plane.size"]),
        (
            "%%paimon\nSELECT f.plane.size.| FROM air.flights f",
            "f.plane.size.",
            [
                "f.plane.size.seats",
            ],
        ),
        (
            "%%paimon\nSELECT * FROM air.flights f JOIN air.carriers c ON f.carrier = c.|",
            "c.",
            [
                "c.carrier",
                "c.name",
            ],
        ),
        (
            "%%paimon\nSELECT 1 FROM sea.ships; SELECT t| FROM air.carriers",
            "t",
            [
                "timestamp as of",
                "tbl",
                "then",
                "true",
                "timestamp",
            ],
        ),
        ("%%paimon\nSELECT file| FROM air.flights$files", "file", ["file_path"]),
        ("%%paimon\nSELECT su| FROM sea.ships", "su", ["sum("]),
        ("%%paimon\nSELECT 'ca| FROM air.flights", "ca", []),
        ("%%paimon\nSELECT 1 -- ca|", "", []),
        ("%%paimon\nSELECT * FROM air.flights VERSION AS OF |", "", ["'daily'", "2"]),
        ("%%paimon\nSELECT * FROM air.flights VERSION AS OF 'd|", "d", ["daily"]),
        ("%%paimon\nSELECT :d| FROM t", ":d", [":day", ":days"]),
        ("%%paimon\nSELECT x::d| FROM t", "d", []),
        ("%%paimon\ngrou|", "grou", ["group by"]),
    ],
)
def test_what_fits_is_offered(cell: str, word: str, found: list[str]) -> None:
    got_word, got = offered(cell)

    assert got_word == word
    if word in {"t", "d"}:  # keywords, too: only columns are of interest
        assert not set(got) & {"tonnage", "day"}
    else:
        assert list(got) == found


def test_what_a_name_is_stands_beside_it() -> None:
    assert offered("%%paimon\nSELECT :d|")[1] == {":day": "= '2026-01-01'", ":days": "= list"}
    assert offered("%%paimon\nSELECT :a|")[1] == {":api_token": "= ******"}
    assert offered("%%paimon\nSELECT mon| FROM air.flights")[1] == {"month": "int32"}


@pytest.fixture
def native(shell: InteractiveShell, tmp_path: Path) -> InteractiveShell:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("air")
    table = catalog.create_table("air.flights", {"id": "BIGINT", "carrier": "STRING"})
    table.write(pa.table({"id": [1], "carrier": ["AA"]}))
    table.tags.create("daily", snapshot=1)
    commands.connect(tmp_path, engine="native")
    load_ipython_extension(shell)  # again, as %reload_ext does
    return shell


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("%%paimon\nSELECT * FROM air.flights$s", ["schemas", "snapshots", "statistics"]),
        ("%%paimon\nSELECT carr| FROM air.flights", ["carrier"]),
        ("%%paimon\nSELECT * FROM air.flights VERSION AS OF ", ["'daily'", "1"]),
        ("%paimon_timeline --la", ["--last"]),
        ("%paimon_connect --use p", ["paimon"]),
    ],
)
def test_the_shell_replaces_the_whole_word(
    native: InteractiveShell, cell: str, found: list[str]
) -> None:
    before, _, after = cell.partition("|")
    assert native.Completer is not None

    with provisionalcompleter():
        completions = list(native.Completer.completions(before + after, len(before)))

    texts = {before[: one.start] + one.text for one in completions}
    assert len(texts) == len(found)
    assert all(any(text.endswith(name) for text in texts) for name in found)
    assert all("$$" not in text and "cacarrier" not in text for text in texts)
    assert len(native.Completer.custom_matchers) == 1


def test_nobody_waits_for_a_slow_answer() -> None:
    answers, gate, begin = Answers(), Event(), time.monotonic()

    def slow() -> bool:
        return gate.wait(60)

    first = answers.get("tables", slow, False, deadline=begin + 0.05)
    gate.set()
    later = answers.get("tables", slow, False, deadline=begin + 60)

    assert (first, later) == (False, True)


def test_what_cannot_be_looked_up_is_not_offered() -> None:
    def broken() -> list[str]:
        raise OSError("gone")

    nothing: list[str] = []
    assert Answers().get("tables", broken, nothing, deadline=time.monotonic() + 60) == []


CALLS = structs.replace(
    NAMES,
    tags=lambda name: {"daily": "tag of snapshot 2"} if name == "air.flights" else {},
    branches=lambda name: {"dev": "branch"} if name == "air.flights" else {},
    catalog="paimon",
)


def offered_in_call(sql: str) -> tuple[str, dict[str, str]]:
    before, _, after = sql.partition("|")
    cell = "%%paimon\n" + before
    word, found = candidates(cell, after, lambda: CALLS, VARIABLES, lambda _: [])
    return word, {one.text: one.about for one in found}


@pytest.mark.parametrize(
    ("sql", "word", "found"),
    [
        ("CALL sys.expire_s|", "sys.expire_s", ["sys.expire_snapshots("]),
        (
            "SELECT 1; call SYS.rename|",
            "SYS.rename",
            ["sys.rename_branch(", "sys.rename_tag("],
        ),
        ("CALL pai|", "pai", ["paimon.sys."]),
        ("CALL paimon.sys.rename_t|", "paimon.sys.rename_t", ["paimon.sys.rename_tag("]),
        ("CALL nix|", "nix", []),
        (
            "CALL sys.create_tag(|)",
            "",
            ["table => ", "tag => ", "snapshot => ", "time_retained => "],
        ),
        ("CALL sys.create_tag(table => 'db.t', t|)", "t", ["tag => ", "time_retained => "]),
        ("CALL sys.create_tag('db.t', 'x', |)", "", ["snapshot => ", "time_retained => "]),
        ("CALL sys.create_tag(TAG => 'x', ta|)", "ta", ["table => "]),
        ("CALL sys.compact(table => '|')", "", ["air.flights", "air.carriers", "sea.ships"]),
        ("CALL sys.compact(table => 'air.f|", "air.f", ["air.flights"]),
        ("CALL sys.compact('s|", "s", ["sea.ships"]),
        ("CALL sys.compact(table => |)", "", ["'air.flights'", "'air.carriers'", "'sea.ships'"]),
        ("CALL sys.compact(table => :da|)", ":da", [":day", ":days"]),
        ("CALL sys.delete_tag(table => 'air.flights', tag => '|')", "", ["daily"]),
        ("CALL sys.delete_tag('air.flights', '|')", "", ["daily"]),
        ("CALL sys.delete_tag(tag => '|', table => 'air.flights')", "", ["daily"]),
        ("CALL sys.create_tag('air.flights', '|')", "", []),
        ("CALL sys.rollback('air.flights', snapshot => |)", "", ["2"]),
        ("CALL sys.rollback('air.flights', version => 'd|')", "d", ["daily"]),
        ("CALL sys.fast_forward('air.flights', branch => '|')", "", ["dev"]),
        ("CALL sys.compact('air.flights', compact_strategy => '|')", "", ["full", "minor"]),
        ("CALL sys.compact('air.flights', compact_strategy => m|)", "m", []),
        (
            "CALL sys.compact('t', options => 'bucket=1,target-file-s|')",
            "target-file-s",
            ["target-file-size="],
        ),
        ("CALL sys.compact('air.flights', order_by => 'month,c|')", "c", ["carrier"]),
        ("CALL sys.remove_orphan_files('t', dry_run => |)", "", ["true", "false"]),
        ("CALL sys.nix(|)", "", []),
        ("CALL sys.compact('t') |", "", []),
        ("CALL sys.compact(table => 'a' |)", "", []),
    ],
)
def test_offered_in_a_call(sql: str, word: str, found: list[str]) -> None:
    at, texts = offered_in_call(sql)

    assert at == word
    if "options =>" in sql:
        assert set(found) <= set(texts)
    else:
        assert list(texts) == found


def test_procedures_and_arguments_come_with_a_line_of_help() -> None:
    _, procedures = offered_in_call("CALL |")
    _, arguments = offered_in_call("CALL sys.create_tag(|")

    assert procedures["sys.compact("].startswith("Rewrite files")
    assert arguments["snapshot => "] == "bigint: The id of a snapshot; none: the latest."


def test_values_in_a_call_come_from_the_catalog(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.my t", {"k": "INT"})
    table.write(pa.table({"k": pa.array([1], pa.int32())}))
    table.tags.create("it's")
    table.branches.create("dev")
    connections.connect(tmp_path, engine="native")
    try:
        names = known_names()
        found = {
            cell: [one.text for one in sql_candidates(cell, len(cell), names, {})[1]]
            for cell in (
                "CALL sys.compact(table => '",
                "CALL sys.delete_tag('db.`my t`', '",
                "CALL sys.fast_forward('db.`my t`', '",
            )
        }
    finally:
        connections.disconnect()

    assert list(found.values()) == [["db.`my t`"], ["it\\'s"], ["dev"]]
