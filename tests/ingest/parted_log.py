"""Changes of tables in files, a file for each part, as a source that Spark can read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    SourceSchema,
    SourceSchemaChange,
)
from paimonlab.ingest.formats import FormatSettings, decoder_of
from paimonlab.ingest.formats.messages import messages_of

PARTS = 2


def _wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.05)


@dataclass(frozen=True)
class PartedLog:
    """Lines of Debezium's JSON; a position is how many lines of each file were read."""

    folder: Path

    @property
    def name(self) -> str:
        return f"log {self.folder.name}"

    def add(self, part: int, lines: Sequence[str]) -> None:
        """Write changes."""
        self.folder.mkdir(exist_ok=True)
        with self._path(part).open("a", encoding="utf-8") as log:
            log.writelines(f"{line}\n" for line in lines)

    def tables(self) -> Mapping[str, SourceSchema]:
        found: dict[str, SourceSchema] = {}
        for event in self._events(self.newest(self.beginning())):
            if isinstance(event, RowChanges):
                found[event.table] = found.get(event.table, event.schema)
        return found

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        begin = self.beginning() if position is None else position
        while True:
            end = self.newest(begin)
            for part in self.parts(begin, end):
                for event in self.read_part(part, wanted):
                    if not isinstance(event, Boundary):
                        yield event
            yield Boundary(position=end, phase=Phase.CAUGHT_UP)
            begin = end

    def acknowledge(self, position: JsonValue) -> None:
        pass

    def close(self) -> None:
        pass

    # What Spark asks

    def beginning(self) -> JsonValue:
        return [0] * PARTS

    def newest(
        self, position: JsonValue, *, most: int | None = None, until: JsonValue = None
    ) -> JsonValue:
        assert isinstance(position, list)
        counts = [len(self._lines(part)) for part in range(PARTS)]
        if most is not None:
            counts = [min(end, int(at) + most) for end, at in zip(counts, position, strict=True)]  # type: ignore[arg-type]
        if until is not None:
            assert isinstance(until, list)
            counts = [min(end, int(stop)) for end, stop in zip(counts, until, strict=True)]  # type: ignore[arg-type]
            counts = [max(end, int(at)) for end, at in zip(counts, position, strict=True)]  # type: ignore[arg-type]
        return [*counts]

    def parts(self, begin: JsonValue, end: JsonValue) -> Sequence[JsonValue]:
        assert isinstance(begin, list)
        assert isinstance(end, list)
        pairs = enumerate(zip(begin, end, strict=True))
        return [[part, first, last] for part, (first, last) in pairs if first != last]

    def read_part(self, part: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        assert isinstance(part, list)
        number, first, last = (int(value) for value in part)  # type: ignore[arg-type]
        decode = decoder_of("debezium-json", FormatSettings())
        lines = self._lines(number)[first:last]
        for start in range(0, len(lines), 40):
            some = [line.encode() for line in lines[start : start + 40]]
            for event in decode(messages_of(some, partition=number, first_offset=first + start)):
                table = getattr(event, "table", None)
                if table is None or wanted(table):
                    yield event
        yield Boundary(position=None, phase=Phase.STREAM, seen_millis=first + 1)

    def _events(self, end: JsonValue) -> Iterator[Event]:
        for part in self.parts(self.beginning(), end):
            yield from self.read_part(part, lambda _: True)

    def _lines(self, part: int) -> list[str]:
        path = self._path(part)
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def _path(self, part: int) -> Path:
        return self.folder / f"{part}.log"


@dataclass(frozen=True)
class RenamingLog(PartedLog):
    """A log that also says when columns are renamed, in lines ``{"renames": {"a": "b"}, …}``."""

    def read_part(self, part: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        assert isinstance(part, list)
        number, first, last = (int(value) for value in part)  # type: ignore[arg-type]
        schema: SourceSchema | None = None
        seen: Boundary | None = None
        for at, line in enumerate(self._lines(number)[first:last], start=first):
            if line.startswith('{"renames"'):
                told = json.loads(line)
                columns = () if schema is None else schema.columns
                names = told["renames"]
                changed = [
                    replace(column, name=names.get(column.name, column.name)) for column in columns
                ]
                if schema is not None:
                    yield SourceSchemaChange(
                        table=told["table"],
                        before=schema,
                        after=replace(schema, columns=tuple(changed)),
                        position=at,
                        reason="renamed",
                        renamed=names,
                    )
                continue
            for event in super().read_part([number, at, at + 1], wanted):
                if isinstance(event, Boundary):
                    seen = event
                    continue
                schema = event.schema if isinstance(event, RowChanges) else schema
                yield event
        yield seen or Boundary(position=None, phase=Phase.STREAM)


@dataclass(frozen=True)
class RereadableLog(PartedLog):
    """A log of which tables can be read anew; the position is then ``{"at": …, "again": […]}``."""

    def before_rows(self, position: JsonValue, tables: Collection[str]) -> JsonValue:
        at, again = _at_and_again(position)
        return {"at": at, "again": [*sorted({*again, *tables})]}

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        at, again = _at_and_again(position)
        for part in self.parts(position, at) if again else ():
            for event in self.read_part(part, wanted):
                if not isinstance(event, Boundary):
                    yield event
                yield Boundary(position=position, phase=Phase.SNAPSHOT)
        if again:
            yield Boundary(position=at, phase=Phase.STREAM)
        yield from super().read(at, wanted)

    def newest(
        self, position: JsonValue, *, most: int | None = None, until: JsonValue = None
    ) -> JsonValue:
        at, again = _at_and_again(position)
        return at if again else super().newest(at, most=most, until=until)

    def parts(self, begin: JsonValue, end: JsonValue) -> Sequence[JsonValue]:
        _, again = _at_and_again(begin)
        if not again:
            return super().parts(begin, end)
        assert isinstance(end, list)
        return [[part, 0, last, [*again]] for part, last in enumerate(end)]

    def read_part(self, part: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        assert isinstance(part, list)
        *place, again = part if len(part) > 3 else [*part, None]
        for event in super().read_part(place, wanted):
            if isinstance(event, Boundary) or again is None or event.table in again:  # type: ignore[operator,union-attr]
                yield event


def _at_and_again(position: JsonValue) -> tuple[JsonValue, Sequence[str]]:
    if not isinstance(position, dict):
        return position, ()
    again = position["again"]
    assert isinstance(again, list)
    return position["at"], [*map(str, again)]


@dataclass(frozen=True)
class HangingLog(PartedLog):
    """A log whose first file cannot be read before there is a file ``gate`` beside its folder."""

    def tables(self) -> Mapping[str, SourceSchema]:
        return PartedLog(self.folder).tables()

    def read_part(self, part: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        assert isinstance(part, list)
        if part[0] == 0:
            _wait_for(self.folder.with_name("gate"))
        yield from super().read_part(part, wanted)
