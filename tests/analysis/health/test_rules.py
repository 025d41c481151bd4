"""The rules of health, on measured values."""

from __future__ import annotations

import dataclasses
import shlex
import shutil
import subprocess
from typing import Any

import pytest

from paimonlab.analysis.health.actions import set_option
from paimonlab.analysis.health.measures import ClockJump, ConsumerState, Measures, Thresholds
from paimonlab.analysis.health.rules import findings
from paimonlab.cli.main import main
from tests.support import cases

_TYPES = {one.name: one.type for one in dataclasses.fields(Measures)}


def measures(words: str) -> Measures:
    values: dict[str, Any] = {"name": "db.t", "has_primary_key": False, "options": {}}
    for word in words.split():
        name, _, text = word.partition("=")
        if name == "consumer":
            who, _, rest = text.partition("@")
            following, _, idle = rest.partition(":")
            state = ConsumerState(name=who, next_snapshot=int(following), idle_days=float(idle))
            values["consumers"] = (state,)
        elif name == "clock_jump":
            snapshot, _, millis = text.partition(":")
            values["clock_jumps"] = (ClockJump(snapshot_id=int(snapshot), millis=int(millis)),)
        elif name == "option":
            key, _, value = text.partition(":")
            values["options"][key] = value
        else:
            values[name] = float(text) if _TYPES[name] == "float" else int(text)
    return Measures(**values)


@pytest.mark.parametrize(("title", "given", "expected"), cases("health"))
def test_case_file(title: str, given: str, expected: str) -> None:
    words, _, limits = given.partition("|")
    thresholds = Thresholds.of(dict(word.split("=") for word in limits.split()))

    found = [
        f"{one.severity} {one.code} {one.measured:g}/{one.threshold:g}"
        for one in findings(measures(words), thresholds)
    ]

    assert (" ".join(found) or "nothing") == expected, title


def test_the_worst_come_first() -> None:
    found = findings(
        measures(
            "columns_with_stats=0 snapshot_count=900 earliest_snapshot=5 latest_snapshot=9 "
            "consumer=a@1:0"
        ),
        Thresholds(),
    )

    assert [one.severity for one in found] == ["error", "warning", "info"]


def test_every_finding_but_that_of_clocks_says_what_to_do_twice() -> None:
    for _, given, _ in cases("health"):
        words, _, limits = given.partition("|")
        thresholds = Thresholds.of(dict(word.split("=") for word in limits.split()))
        for one in findings(measures(words), thresholds):
            if one.code not in {"clock-jump", "bucket-skew", "small-buckets"}:
                assert one.sql or "rescale" in one.python, one
                assert one.python, one


def test_every_action_is_a_command_of_the_command_line() -> None:
    """The words of each are parsed as a shell and `paimonlab` parse them."""
    seen: set[str] = set()
    for _, given, _ in cases("health"):
        words, _, limits = given.partition("|")
        thresholds = Thresholds.of(dict(word.split("=") for word in limits.split()))
        for one in findings(measures(words), thresholds):
            assert bool(one.shell) == bool(one.python), one
            program, *asked = shlex.split(one.shell) or ["paimonlab"]
            if asked:
                command = main.commands[asked[0]]
                parsed = command.make_context(asked[0], asked[1:], resilient_parsing=False)
                named = parsed.params.get("name", "db.t")
                assert (program, named, parsed.params["warehouse"]) == ("paimonlab", "db.t", "")
                seen.add(asked[0])

    assert seen == {
        "compact",
        "compact-manifests",
        "expire",
        "orphans",
        "rescale",
        "reset-consumer",
        "sql",
    }


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell here")
def test_a_shell_passes_names_on_as_they_are() -> None:
    asked = set_option('db.a`b $HOME "c"', "k'", "\\").shell
    program = f"paimonlab() {{ printf '%s' \"$2\"; }}; {asked}"

    found = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=True)

    name = 'db.`a``b $HOME "c"`'
    assert found.stdout == f"ALTER TABLE {name} SET TBLPROPERTIES ('k\\'' = '\\\\')"


def test_names_cannot_break_out_of_a_statement() -> None:
    assert set_option("db.a`b", "k'", "\\").sql == (
        "ALTER TABLE `db`.`a``b` SET TBLPROPERTIES ('k\\'' = '\\\\')"
    )


def test_unknown_thresholds_are_named() -> None:
    with pytest.raises(ValueError, match=r"no threshold 'snapshot'.*snapshots"):
        Thresholds.of({"snapshot": 3})
    with pytest.raises(ValueError, match="threshold snapshots: 'many' is not a whole number"):
        Thresholds.of({"snapshots": "many"})
