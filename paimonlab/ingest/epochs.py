"""What a job notes down: epochs, written before their commits, and what it knows of its source.

An epoch is what was read up to a boundary of the source. Its file has the commit messages of each
table and the position after it, and is created if it does not exist: of two processes with the same
job one cannot. Then each table is committed by the job's user with the epoch's number, which
happens at most once, however often it is tried. So whoever finds an epoch without the mark that it
is done commits it again, and goes on from its position.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from paimonlab.errors import CorruptMetadataError, IngestRunningError, SchemaError
from paimonlab.ingest.changes import Held, JsonValue, SourceColumn, SourceSchema
from paimonlab.ingest.event_log import EventLog, JobEvent
from paimonlab.ingest.letters import Letter
from paimonlab.ingest.steering import Asked
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.decoding import ready
from paimonlab.spec.types.text import format_type, parse_type
from paimonlab.storage import LARGE_LIMIT_BYTES, FileIO, join

_EPOCH, _DONE, _KNOWN = "epoch-", "done-", "known-"
_VERSION = 1
_KEPT = 8
"""Epochs that stay: a process that was stopped for as long as it takes to make them may come back,
and must find that others were faster."""


class TableCommit(msgspec.Struct, frozen=True, kw_only=True):
    """What an epoch commits to one table."""

    table: str
    """``database.table``."""
    messages: tuple[bytes, ...]
    """Each of `CommitMessage.to_bytes`."""
    rows: int
    replaces: bool = False
    """Whether these rows take the place of all that the table has."""

    def decoded(self) -> list[CommitMessage]:
        """Return the messages."""
        return [CommitMessage.from_bytes(data) for data in self.messages]


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """Everything between two positions of a source."""

    number: int
    """From 1, without gaps; the identifier of its commits."""
    owner: str
    """Which process made it."""
    position: bytes
    """Of the source after it, as JSON."""
    phase: str
    """What the source was doing at its end."""
    commits: tuple[TableCommit, ...] = ()
    known: str = ""
    """Names the file that has what is known of the source after it; empty: there is none."""
    made_millis: int = 0
    seen_millis: int | None = None
    """When the source made its newest change, epoch milliseconds; None: unknown."""
    rows: int = 0
    """Rows that were committed up to here, this epoch included."""
    dead: int = 0
    """Rows that were set aside up to here."""
    version: int = _VERSION

    @property
    def source_position(self) -> JsonValue:
        """The position as the source has it."""
        return msgspec.json.decode(self.position)


class Stopped(msgspec.Struct, frozen=True, kw_only=True):
    """A table that cannot go on."""

    reason: str
    position: Any
    """Of the source, as JSON has it."""
    at_millis: int


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """What a job has at its source, for when the job is dropped without it."""

    holds: list[Held] = []
    address: dict[str, Any] = {}
    """Words of the source, as in a file of a job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a job knows of its source and tables, beside the position."""

    schemas: Mapping[str, SourceSchema] = field(default_factory=dict)
    """By ``database.table`` of the source: what was followed up to here."""
    stopped: Mapping[str, Stopped] = field(default_factory=dict)
    """By ``database.table`` here."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Rows that came for stopped tables."""
    targets: Mapping[str, str] = field(default_factory=dict)
    """``database.table`` here, by that of the source."""
    added: Sequence[str] = ()
    """Patterns of tables that were added to those that the job was told."""
    letters: Sequence[Letter] = ()
    """Rows that were set aside, oldest first."""
    again: Sequence[str] = ()
    """``database.table`` here: all rows are read anew and then replaced, with the next epoch."""
    holding: Holding | None = None
    """None: nothing, or an earlier release wrote it."""

    def to_bytes(self) -> bytes:
        """Encode as JSON."""
        return msgspec.json.encode(
            {
                "schemas": {name: _to_json(schema) for name, schema in self.schemas.items()},
                "stopped": dict(self.stopped),
                "skipped": dict(self.skipped),
                "targets": dict(self.targets),
                "added": list(self.added),
                "again": list(self.again),
                "letters": list(self.letters),
                **({} if self.holding is None else {"holding": self.holding}),
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Known:
        """Decode what `to_bytes` made; raises ValueError if it is something else."""
        document = msgspec.json.decode(data, type=ready(_KnownDocument))
        try:
            schemas = {name: schema.decoded() for name, schema in document.schemas.items()}
        except SchemaError as error:
            raise ValueError(str(error)) from error
        return cls(
            schemas=schemas,
            stopped=document.stopped,
            skipped=document.skipped,
            targets=document.targets,
            added=tuple(document.added),
            again=tuple(document.again),
            letters=tuple(document.letters),
            holding=document.holding,
        )


class _Column(msgspec.Struct, kw_only=True, omit_defaults=True):
    name: str
    type: str
    source_type: str | None = None
    comment: str | None = None
    default_value: str | None = None
    number: int | None = None


class _Schema(msgspec.Struct, kw_only=True, omit_defaults=True):
    columns: list[_Column]
    primary_keys: list[str] = []
    partition_keys: list[str] = []
    comment: str | None = None
    is_partial: bool = False
    is_unordered: bool = False

    def decoded(self) -> SourceSchema:
        return SourceSchema(
            columns=tuple(
                SourceColumn(
                    name=column.name,
                    type=parse_type(column.type),
                    source_type=column.source_type,
                    comment=column.comment,
                    default_value=column.default_value,
                    number=column.number,
                )
                for column in self.columns
            ),
            primary_keys=tuple(self.primary_keys),
            partition_keys=tuple(self.partition_keys),
            comment=self.comment,
            is_partial=self.is_partial,
            is_unordered=self.is_unordered,
        )


class _KnownDocument(msgspec.Struct):
    schemas: dict[str, _Schema]
    stopped: dict[str, Stopped]
    skipped: dict[str, int]
    targets: dict[str, str]
    added: list[str] = []
    again: list[str] = []
    letters: list[Letter] = []
    holding: Holding | None = None


def _to_json(schema: SourceSchema) -> _Schema:
    return _Schema(
        columns=[
            _Column(
                name=column.name,
                type=format_type(column.type),
                source_type=column.source_type,
                comment=column.comment,
                default_value=column.default_value,
                number=column.number,
            )
            for column in schema.columns
        ],
        primary_keys=list(schema.primary_keys),
        partition_keys=list(schema.partition_keys),
        comment=schema.comment,
        is_partial=schema.is_partial,
        is_unordered=schema.is_unordered,
    )


def encoded_position(position: JsonValue) -> bytes:
    """Write a position as JSON.

    Raises
    ------
    TypeError
        If a source gave something that JSON does not have.
    """
    return msgspec.json.encode(position)


@dataclass(frozen=True, slots=True)
class JobFiles:
    """The folder of one job."""

    job: str
    file_io: FileIO
    folder: str

    def newest(self) -> tuple[Epoch, bool] | None:
        """Return the newest epoch, and whether all of it is committed; None: there is none."""
        names = self.file_io.list_names(self.folder)
        numbers = _numbers(names, _EPOCH)
        if not numbers:
            return None
        number = max(numbers)
        return self._epoch(number), number in _numbers(names, _DONE)

    def publish(self, epoch: Epoch) -> None:
        """Create the file of an epoch.

        Raises
        ------
        IngestRunningError
            If another process made this epoch or a later one.
        """
        path, data = self._path(_EPOCH, epoch.number), zlib.compress(_encode(epoch), 1)
        try:
            is_ours = self.file_io.publish(path, data)
        except OSError:
            # The answer was lost, not necessarily the file.
            if not self._is(path, data):
                raise
            is_ours = True
        if not is_ours and not self._is(path, data):
            raise self._faster(epoch.number)
        names = self.file_io.list_names(self.folder)
        if any(
            number > epoch.number for kind in (_EPOCH, _DONE) for number in _numbers(names, kind)
        ):
            self.file_io.delete(path)
            raise self._faster(epoch.number)

    def mark_done(self, epoch: Epoch) -> None:
        """Note that all commits of an epoch happened; delete what nobody asks for any more."""
        self.file_io.replace(self._path(_DONE, epoch.number), b"")
        names = self.file_io.list_names(self.folder)
        for number in _numbers(names, _EPOCH):
            if number <= epoch.number - _KEPT:
                self.file_io.delete(self._path(_EPOCH, number))
        for number in _numbers(names, _DONE):
            if number < epoch.number:
                self.file_io.delete(self._path(_DONE, number))
        for name in names:
            is_old = name.startswith(_KNOWN) and _number(name, _KNOWN) < epoch.number
            if is_old and name != f"{_KNOWN}{epoch.known}":
                self.file_io.delete(join(self.folder, name))
        self.log.fold(names)

    def write_known(self, known: Known, number: int, owner: str) -> str:
        """Write what is known of the source after an epoch, before that epoch; name the file."""
        name = f"{number}.{owner}"
        self.file_io.replace(join(self.folder, f"{_KNOWN}{name}"), known.to_bytes())
        return name

    def known(self, name: str) -> Known:
        """Read what is known of the source after an epoch.

        Raises
        ------
        CorruptMetadataError
            If the file is gone or damaged.
        """
        path = join(self.folder, f"{_KNOWN}{name}")
        try:
            return Known.from_bytes(self.file_io.read(path))
        except (FileNotFoundError, ValueError) as error:
            raise CorruptMetadataError(path, str(error)) from error

    @property
    def asked(self) -> Asked:
        """What other processes ask of the job."""
        return Asked(self.file_io, self.folder)

    @property
    def log(self) -> EventLog:
        """What happened to the job."""
        return EventLog(self.file_io, self.folder)

    def events(self) -> list[JobEvent]:
        """Return the log, oldest first."""
        return self.log.read()

    def fold_log(self) -> None:
        """Fold the log into one file if it has become many."""
        self.log.fold(self.file_io.list_names(self.folder))

    def delete(self) -> None:
        """Forget the job."""
        self.file_io.delete_directory(self.folder)

    def _epoch(self, number: int) -> Epoch:
        path = self._path(_EPOCH, number)
        try:
            data = zlib.decompress(self.file_io.read(path, limit_bytes=LARGE_LIMIT_BYTES))
            epoch = msgspec.msgpack.decode(data, type=ready(Epoch))
        except (zlib.error, msgspec.DecodeError) as error:
            raise CorruptMetadataError(path, str(error)) from error
        if epoch.version != _VERSION or epoch.number != number:
            raise CorruptMetadataError(path, f"epoch {epoch.number} of version {epoch.version}")
        return epoch

    def _is(self, path: str, data: bytes) -> bool:
        try:
            return self.file_io.read(path, limit_bytes=LARGE_LIMIT_BYTES) == data
        except FileNotFoundError:
            return False

    def _path(self, kind: str, number: int) -> str:
        return join(self.folder, f"{kind}{number}")

    def _faster(self, number: int) -> IngestRunningError:
        return IngestRunningError(
            self.job,
            f"another process of this name made epoch {number} first; this one changed nothing",
        )


def _encode(epoch: Epoch) -> bytes:
    return msgspec.msgpack.encode(epoch)


def _numbers(names: Iterable[str], kind: str) -> set[int]:
    texts = (name.removeprefix(kind) for name in names if name.startswith(kind))
    return {int(text) for text in texts if text.isascii() and text.isdecimal()}


def _number(name: str, kind: str) -> int:
    text = name.removeprefix(kind).partition(".")[0]
    return int(text) if text.isascii() and text.isdecimal() else 0


def shown(position: Any) -> str:
    """Write a position for people."""
    return msgspec.json.encode(position).decode()
