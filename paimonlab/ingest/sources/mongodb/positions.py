"""How far reading of a cluster came, as jobs note it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from paimonlab.errors import SourceError
from paimonlab.ingest.changes import JsonValue

Moment: TypeAlias = tuple[int, int]
"""A time of the cluster: seconds since 1970, and which change of the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where reading goes on."""

    token: str | None = None
    """Of the last change that was read, as extended JSON; None: changes begin at `at`."""
    at: Moment | None = None
    rows: Mapping[str, str | None] = field(default_factory=dict)
    """Collections whose documents are to be read before changes, and the ``_id`` of the last one
    that was read, as extended JSON."""
    since: Mapping[str, Moment] = field(default_factory=dict)
    """Collections whose documents have all changes up to a moment already."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Of which kind the ``_id`` of each collection are."""

    def with_rows(self, table: str, last: str | None) -> Place:
        """Return the place after a document of a collection, or before its first one."""
        return replace(self, rows={**self.rows, table: last})

    def without_rows(self, table: str) -> Place:
        """Return the place after all documents of a collection."""
        return replace(self, rows={name: at for name, at in self.rows.items() if name != table})

    def before_rows(self, tables: Collection[str]) -> Place:
        """Return the place before the documents of some collections."""
        since = {name: at for name, at in self.since.items() if name not in tables}
        rows = {**self.rows, **dict.fromkeys(sorted(tables))}
        return replace(self, rows=rows, since=since)

    def has(self, table: str, moment: Moment) -> bool:
        """Tell whether the documents that were read have a change already."""
        return table in self.since and moment <= self.since[table]

    def after(self, token: str, moment: Moment | None) -> Place:
        """Return the place after a change."""
        since = self.since
        if moment is not None and any(at < moment for at in since.values()):
            since = {name: at for name, at in since.items() if at >= moment}
        return replace(self, token=token, at=None, since=since)

    def to_json(self) -> JsonValue:
        """Return what jobs note.

        Examples
        --------
        >>> Place(token='{"_data":"82"}', rows={"shop.items": None}).to_json()
        {'token': '{"_data":"82"}', 'rows': {'shop.items': None}}
        """
        found: dict[str, JsonValue] = {"token": self.token}
        if self.at is not None:
            found["at"] = [*self.at]
        if self.rows:
            found["rows"] = dict(self.rows)
        if self.since:
            found["since"] = {name: [*at] for name, at in sorted(self.since.items())}
        if self.kinds:
            found["kinds"] = dict(sorted(self.kinds.items()))
        return found


def place_of(source: str, position: JsonValue) -> Place:
    """Read what a job noted.

    Raises
    ------
    SourceError
        If it is not a position of this source.
    """
    try:
        assert isinstance(position, dict)
        token = position["token"]
        assert token is None or isinstance(token, str)
        rows, since, kinds = (position.get(name) or {} for name in ("rows", "since", "kinds"))
        assert isinstance(rows, dict)
        assert isinstance(since, dict)
        assert isinstance(kinds, dict)
        return Place(
            token=token,
            at=None if position.get("at") is None else _moment(position["at"]),
            rows={name: None if last is None else str(last) for name, last in rows.items()},
            since={name: _moment(at) for name, at in since.items()},
            kinds={name: str(kind) for name, kind in kinds.items()},
        )
    except (AssertionError, KeyError, ValueError):
        raise SourceError(
            source, f"{position!r} is not a position of it: whose job is it?"
        ) from None


def _moment(found: JsonValue) -> Moment:
    assert isinstance(found, list)
    seconds, count = found
    return int(str(seconds)), int(str(count))
