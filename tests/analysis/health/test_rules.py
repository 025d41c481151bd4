"""The rules of health, on measured values."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from paimonlab.analysis.health.actions import set_option
from paimonlab.analysis.health.measures import ClockJump, ConsumerState, Measures, Thresholds
from paimonlab.analysis.health.rules import findings
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


def test_names_cannot_break_out_of_a_statement() -> None:
    assert set_option("db.a`b", "k'", "\\").sql == (
        "ALTER TABLE `db`.`a``b` SET TBLPROPERTIES ('k\\'' = '\\\\')"
    )


def test_unknown_thresholds_are_named() -> None:
    with pytest.raises(ValueError, match=r"no threshold 'snapshot'.*snapshots"):
        Thresholds.of({"snapshot": 3})
    with pytest.raises(ValueError, match="threshold snapshots: 'many' is not a whole number"):
        Thresholds.of({"snapshots": "many"})
