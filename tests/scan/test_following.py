"""What comes next for a follower, drawn case by case."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import pytest

from paimonlab.scan.following import Act, FollowRules, Position, Seen, next_act
from paimonlab.spec.snapshot import CommitKind, Snapshot
from tests.support import cases

_SNAPSHOT = re.compile(r"(\d+)([ACON])(c?)(?:w(-?\d+))?(?:t(\d+))?(x?)")
_KINDS = {kind.value[0]: kind for kind in CommitKind if kind is not CommitKind.ANALYZE} | {
    "N": CommitKind.ANALYZE
}
_NOW = 10_000
_GOES_ON = (Act.STATE, Act.CHANGES, Act.OVERWRITE, Act.SKIP)


@dataclass
class Drawing:
    """A case."""

    history: dict[int, Snapshot]
    position: Position
    rules: FollowRules

    def steps(self) -> str:
        """Follow the history."""
        found = []
        position = self.position
        while True:
            act = next_act(position, self.seen(position), self.rules)
            found.append(f"{act.value}:{position.snapshot_id}")
            if act not in _GOES_ON:
                return " ".join(found)
            position = position.after(self.history[position.snapshot_id].delta_manifest_list)

    def seen(self, position: Position) -> Seen:
        snapshot = self.history.get(position.snapshot_id)
        return Seen(
            now_millis=_NOW,
            snapshot=snapshot,
            previous=self.history.get(position.snapshot_id - 1),
            latest_id=max(self.history, default=None) if snapshot is None else None,
        )


def drawn(given: str) -> Drawing:
    history, position, rules = {}, Position(snapshot_id=0, is_full=True), FollowRules()
    for line in given.strip().splitlines():
        word, *rest = line.split()
        match word:
            case "history":
                history = {one.id: one for one in map(snapshot, rest)}
            case "full" | "changes":
                position = Position(snapshot_id=int(rest[0]), is_full=word == "full")
            case "seen":
                position = Position(snapshot_id=position.snapshot_id, last=f"list-{rest[0]}")
            case "empty":
                pass
            case _:
                for rule in (word, *rest):
                    if rule == "inside":
                        last = f"list-{position.snapshot_id}"
                        position = position.within(last, "plan", 0, 10)
                    else:
                        rules = with_rule(rules, rule)
    return Drawing(history, position, rules)


def snapshot(text: str) -> Snapshot:
    match = _SNAPSHOT.fullmatch(text)
    assert match, text
    id, kind, changelog, watermark, millis, replaced = match.groups()
    return Snapshot(
        id=int(id),
        schema_id=0,
        base_manifest_list="base",
        delta_manifest_list=f"{replaced}list-{id}",
        changelog_manifest_list="changelog" if changelog else None,
        commit_user="u",
        commit_identifier=1,
        commit_kind=_KINDS[kind],
        time_millis=int(millis or 100 * int(id)),
        watermark=int(watermark) if watermark else None,
    )


_FLAGS = {
    "changelog": "reads_changelog",
    "overwrites": "reads_overwrites",
    "latest": "ends_at_latest",
}
_NUMBERS = {
    "until": "until_id",
    "until-time": "until_millis",
    "bound": "bounded_watermark",
    "delay": "delay_millis",
}


def with_rule(rules: FollowRules, text: str) -> FollowRules:
    name, has_value, value = text.partition("=")
    field = _NUMBERS[name] if has_value else _FLAGS[name]
    changed: Any = {field: int(value) if has_value else True}
    return replace(rules, **changed)


@pytest.mark.parametrize(
    ("given", "expected"),
    [pytest.param(given, expected, id=title) for title, given, expected in cases("following")],
)
def test_steps(given: str, expected: str) -> None:
    assert drawn(given).steps() == expected


def test_a_position_is_a_value_that_can_be_kept() -> None:
    position = Position(snapshot_id=7, is_full=True, created_since_millis=12).within("m", "p", 3, 9)

    assert Position.from_bytes(position.to_bytes()) == position
    assert Position.from_bytes(position.to_bytes().decode()) == position
    assert position.is_inside
    assert position.after("m") == Position(snapshot_id=8, last="m", created_since_millis=12)
    assert Position(snapshot_id=1).to_bytes() == b'{"snapshot_id":1}'


@pytest.mark.parametrize("data", [b"", b"{}", b'{"snapshot_id":"x"}', b"\xff", "[]"])
def test_what_is_no_position_is_refused(data: bytes | str) -> None:
    with pytest.raises(ValueError, match="not a position"):
        Position.from_bytes(data)
