"""A cluster of MongoDB, and collections of it as a source for jobs.

First all documents, then what changed since the moment before they were read.

Source: MongoDB's manual on change events; apache/paimon@1.3.1 ``Mongo4VersionStrategy``.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    SourceSchema,
    SourceSchemaChange,
    Truncated,
)
from paimonlab.ingest.sources import losses
from paimonlab.ingest.sources.losses import Patience
from paimonlab.ingest.sources.mongodb.positions import Moment, Place, place_of
from paimonlab.ingest.sources.silence import ConnectionEndedError
from paimonlab.secrets import hides_secrets
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import parse_type

if TYPE_CHECKING:
    from paimonlab.ingest.sources.mongodb.client import Changes, Cluster, Login
    from paimonlab.ingest.sources.mongodb.rows import Gathered, Reading

METADATA_TYPES: Mapping[str, DataType] = {"op_ts": parse_type("TIMESTAMP_LTZ(3)")}
_STARTS = ("initial", "latest", "snapshot")
_IDS = ("text", "extended")
_FULL_DOCUMENTS = {"lookup": "updateLookup", "image": "required"}
_MOST_ROWS = 1_000
_MOST_BYTES = 8 << 20
_FIRST_ROWS = 100
"""Documents by which the columns of a collection are known before it is read."""
_BOUNDARY_SECONDS = 0.8


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class MongoDb:
    """A cluster; `tables` makes sources of it. Nothing is asked of it before."""

    login: Login

    def tables(
        self,
        *patterns: str,
        excluding: str | None = None,
        start: str | datetime = "initial",
        fields: Mapping[str, str] | None = None,
        ids: str = "text",
        updates: str = "lookup",
    ) -> MongoDbSource:
        r"""Make a source of collections.

        Parameters
        ----------
        *patterns
            Regular expressions for the whole of ``database.collection``: ``shop\.orders``.
            Collections that appear later are read too.
        excluding
            The same, for collections that are not read; it wins.
        start
            ``initial``: all documents, then changes; ``latest``: what changes from now on;
            ``snapshot``: the documents there are, and the end; or a time with zone that the oplog
            still has: what changed since. A job that runs again goes on where it was.
        fields
            The columns, and where their values are: ``{"_id": "$._id", "city": "$.address.city"}``.
            None: each member of a document is a column, and new ones are added as they appear.
        ids
            ``text``: the key is the ``_id`` as text, an ObjectId in hexadecimal; a collection with
            numbers and texts as ``_id`` stops, since 1 and "1" would be one row. ``extended``: it
            is extended JSON where it is no text, ``{"$oid":"…"}``.
        updates
            ``lookup``: the server tells of an updated document what it is when the update is read,
            which may be newer. ``image``: what it was right after the update; the collections need
            ``changeStreamPreAndPostImages`` (MongoDB 6).

        Raises
        ------
        UnsupportedError
            For settings that there are not, and without pymongo.
        ValueError
            If a pattern is no regular expression.
        """
        if not patterns:
            raise ValueError(r"give the collections: tables(r'shop\.orders')")
        if isinstance(start, datetime):
            if start.tzinfo is None:
                raise ValueError(f"start = {start!r}: give a time with its zone")
        elif start not in _STARTS:
            raise ValueError(f"start = {start!r}: it is {', '.join(_STARTS)} or a time")
        if ids not in _IDS:
            raise ValueError(f"ids = {ids!r}: it is {' or '.join(_IDS)}")
        if updates not in _FULL_DOCUMENTS:
            raise ValueError(f"updates = {updates!r}: it is {' or '.join(_FULL_DOCUMENTS)}")
        if fields is not None and fields.get("_id") != "$._id":
            raise ValueError("fields: give _id with the path $._id, which is the key")
        return MongoDbSource(
            login=self.login,
            patterns=tuple(map(_pattern, patterns)),
            excluding=None if excluding is None else _pattern(excluding),
            start=start,
            reading=_reading(ids, fields or {}),
            updates=updates,
        )


def mongodb(
    hosts: str = "127.0.0.1:27017",
    *,
    user: str | None = None,
    password_env: str | None = None,
    password_file: str | os.PathLike[str] | None = None,
    database: str | None = None,
    srv: bool = False,
    options: Mapping[str, str] | None = None,
) -> MongoDb:
    r"""Name a replica set or sharded cluster of MongoDB, 4.4 or newer.

    Parameters
    ----------
    hosts
        ``host:port``, several with commas.
    user
        Who reads, with the rights to find, listDatabases, listCollections and changeStream; None:
        nobody in particular.
    password_env, password_file
        The environment variable, or the file, that has the password.
    database
        The only one that is read, for users who may read no other; None: all that match.
    srv
        Whether ``hosts`` is a name of which DNS tells the hosts (``mongodb+srv:``).
    options
        Of connection strings, such as ``{"replicaSet": "rs0", "tls": "true"}``.

    Raises
    ------
    UnsupportedError
        Without pymongo, and for options that are set here or have secrets.

    Examples
    --------
    >>> mongodb(user="cdc", password_env="CDC_PASSWORD").tables(r"shop\.orders")
    <paimonlab mongodb 127.0.0.1:27017 shop\.orders>
    """
    _require_pymongo()
    from paimonlab.ingest.sources.mongodb.client import Login  # noqa: PLC0415 - an extra

    login = Login(
        hosts=hosts,
        srv=srv,
        user=user,
        password_env=password_env,
        password_file=None if password_file is None else os.fspath(password_file),
        database=database,
        options=dict(options or {}),
    )
    return MongoDb(login=login)


def _require_pymongo() -> None:
    try:
        import pymongo  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise UnsupportedError(
            "reading MongoDB without pymongo", "pip install 'paimonlab[mongodb]'"
        ) from error


def _reading(ids: str, fields: Mapping[str, str]) -> Reading:
    from paimonlab.ingest.sources.mongodb.rows import Reading  # noqa: PLC0415 - an extra
    from paimonlab.ingest.sources.mongodb.values import path_of  # noqa: PLC0415 - an extra

    return Reading(ids=ids, paths={name: path_of(path) for name, path in fields.items()})


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from None


@hides_secrets
@dataclass(kw_only=True)
class MongoDbSource:
    """Collections of a cluster, to be read by a job; see `MongoDb.tables`."""

    login: Login
    patterns: tuple[re.Pattern[str], ...]
    excluding: re.Pattern[str] | None
    start: str | datetime
    reading: Reading
    updates: str

    def __repr__(self) -> str:
        return f"<paimonlab {self.name}>"

    @property
    def name(self) -> str:
        """The cluster and the collections."""
        return f"{self.login.name} {'|'.join(pattern.pattern for pattern in self.patterns)}"

    @property
    def metadata_types(self) -> Mapping[str, DataType]:
        """What is known of rows beside their values."""
        return METADATA_TYPES

    def tables(self) -> Mapping[str, SourceSchema]:
        """Return the collections that match and have documents, with the columns of some of them.

        Raises
        ------
        SourceError
            If the cluster cannot be reached or refuses.
        """
        found: dict[str, SourceSchema] = {}
        with closing(self.connect()) as cluster:
            for table in self.matching(cluster):
                gathered = self.gathered({})
                with cluster.session() as (session, _):
                    for raw in islice(cluster.documents(table, session, None), _FIRST_ROWS):
                        gathered.document(table, raw, "")
                for event in gathered.events():
                    schema = getattr(event, "schema", None)
                    if schema is not None:
                        found[table] = schema
        return found

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield documents and changes after a position; see `paimonlab.ingest.Source.read`."""
        with closing(self.connect()) as cluster:
            yield from _Run(self, cluster, wanted).events(position)

    @property
    def may_repeat(self) -> bool:
        """Whether documents are read while they change."""
        return self.start == "initial"

    def estimated_rows(self, wanted: Callable[[str], bool]) -> int | None:
        """Return about how many documents the wanted collections have."""
        if self.start not in ("initial", "snapshot"):
            return None
        with closing(self.connect()) as cluster:
            tables = [table for table in self.matching(cluster) if wanted(table)]
            return sum(map(cluster.estimated_count, tables))

    def before_rows(self, position: JsonValue, tables: Collection[str]) -> JsonValue:
        """Return a position from which documents are read anew; see `RereadableSource`.

        Changes are read from where they were; those that the documents have already are passed
        over.
        """
        return place_of(self.name, position).before_rows(tables).to_json()

    def include(self, pattern: str) -> None:
        """Offer collections that match a regular expression, too."""
        compiled = _pattern(pattern)
        if compiled not in self.patterns:
            self.patterns = (*self.patterns, compiled)

    def acknowledge(self, position: JsonValue) -> None:
        """Do nothing: servers keep their oplog for a time, whoever reads it."""

    def close(self) -> None:
        """Do nothing: what is open is open while `read` is."""

    def connect(self) -> Cluster:
        """Make connections."""
        from paimonlab.ingest.sources.mongodb.client import Cluster  # noqa: PLC0415 - an extra

        return Cluster(self.login)

    def gathered(self, kinds: Mapping[str, str]) -> Gathered:
        """Make what gathers rows; ``kinds`` of ``_id`` are known."""
        from paimonlab.ingest.sources.mongodb.rows import Gathered  # noqa: PLC0415 - an extra

        return Gathered(reading=self.reading, kinds=dict(kinds))

    def matching(self, cluster: Cluster) -> list[str]:
        """Return the collections that there are and that match."""
        return [table for table in cluster.collections() if self.wants(table)]

    def wants(self, table: str) -> bool:
        """Whether a collection matches."""
        if self.excluding is not None and self.excluding.fullmatch(table):
            return False
        return any(pattern.fullmatch(table) for pattern in self.patterns)


@dataclass(eq=False)
class _Run:
    """One reading."""

    source: MongoDbSource
    cluster: Cluster
    wanted: Callable[[str], bool]
    place: Place = field(default_factory=Place)
    gathered: Gathered = field(init=False)
    seen_millis: int | None = None
    _has_begun: bool = False
    _has_heard: bool = False
    """Whether something came since the cluster was lost the time before."""
    _transaction: object = None
    """That of the change that was read last."""

    def events(self, position: JsonValue) -> Iterator[Event]:
        """Yield what comes after a position; a cluster that is lost is waited for."""
        if position is not None:
            self._begin(place_of(self.source.name, position))
        patience = Patience(self.source.name)
        while True:
            self._has_heard = False
            try:
                yield from self._until_lost()
            except ConnectionEndedError as error:
                waits = patience.waits(error, has_heard=self._has_heard)
            else:
                return
            yield waits
            time.sleep(losses.WAIT_SECONDS)

    def _begin(self, place: Place) -> None:
        self.place, self._has_begun = place, True
        self.gathered = self.source.gathered(place.kinds)

    def _until_lost(self) -> Iterator[Event]:
        if not self._has_begun:
            self._begin(self._first())
        while True:
            if self.place.rows:
                yield from self._documents()
            if self.source.start == "snapshot":
                yield self._boundary(Phase.ENDED)
                return
            yield from self._changes()

    def _first(self) -> Place:
        """Return where reading begins, which is before the documents."""
        start = self.source.start
        if isinstance(start, datetime):
            return Place(at=(int(start.timestamp()), 0))
        with closing(self._stream(Place())) as changes:
            place = Place(token=changes.token)
        if start == "latest":
            return place
        wanted = [table for table in self.source.matching(self.cluster) if self.wanted(table)]
        return place.before_rows(wanted)

    def _stream(self, place: Place) -> Changes:
        images = _FULL_DOCUMENTS[self.source.updates]
        return self.cluster.changes(place.token, place.at, images)

    def _boundary(self, phase: Phase) -> Boundary:
        place = replace(self.place, kinds=self.gathered.kinds)
        return Boundary(position=place.to_json(), phase=phase, seen_millis=self.seen_millis)

    # Documents

    def _documents(self) -> Iterator[Event]:
        for table, last in sorted(self.place.rows.items()):
            if not (self.source.wants(table) and self.wanted(table)):
                self.place = self.place.without_rows(table)
                continue
            with self.cluster.session() as (session, moment):
                since = self.place.since.get(table, moment)
                self.place = replace(self.place, since={**self.place.since, table: since})
                documents = self.cluster.documents(table, session, last)
                most = _FIRST_ROWS if last is None else _MOST_ROWS
                place = None
                try:
                    for raw in documents:
                        self._has_heard = True
                        place = self._id_of(raw)
                        self.gathered.document(table, raw, place)
                        if self.gathered.count >= most or self.gathered.size_bytes >= _MOST_BYTES:
                            most = _MOST_ROWS
                            yield from self._rows_up_to(table, place)
                except ConnectionEndedError:
                    if place is not None:
                        yield from self._rows_up_to(table, place)
                    raise
            yield from self.gathered.events()
            self.place = self.place.without_rows(table)
            if self.place.rows:
                yield self._boundary(Phase.SNAPSHOT)

    def _rows_up_to(self, table: str, place: str) -> Iterator[Event]:
        yield from self.gathered.events()
        self.place = self.place.with_rows(table, place)
        yield self._boundary(Phase.SNAPSHOT)

    def _id_of(self, raw: bytes) -> str:
        from paimonlab.ingest.sources.mongodb.values import decoded, extended  # noqa: PLC0415

        return extended(decoded(raw).get("_id"))

    # Changes

    def _changes(self) -> Iterator[Event]:
        """Yield changes until documents are to be read."""
        told = time.monotonic()
        while not self.place.rows:
            with closing(self._stream(self.place)) as changes:
                while not self.place.rows:
                    raw = changes.next()
                    self._has_heard = True
                    if raw is None:
                        yield from self.gathered.events()
                        self.place = self.place.after(changes.token, None)
                        yield self._boundary(Phase.CAUGHT_UP)
                        told, self._transaction = time.monotonic(), None
                        if not changes.is_open:
                            break
                        continue
                    event = self._decoded(raw)
                    mine = _transaction_of(event)
                    is_whole = mine is None or mine != self._transaction
                    self._transaction = mine
                    if self._is_full():
                        yield from self.gathered.events()
                        if is_whole:
                            yield self._boundary(Phase.STREAM)
                            told = time.monotonic()
                    elif is_whole and time.monotonic() - told >= _BOUNDARY_SECONDS:
                        yield from self.gathered.events()
                        yield self._boundary(Phase.STREAM)
                        told = time.monotonic()
                    self._take(event, raw)
        yield from self.gathered.events()
        yield self._boundary(Phase.STREAM)

    def _is_full(self) -> bool:
        return self.gathered.count >= _MOST_ROWS or self.gathered.size_bytes >= _MOST_BYTES

    def _decoded(self, raw: bytes) -> dict[str, Any]:
        from paimonlab.ingest.sources.mongodb.values import decoded  # noqa: PLC0415 - an extra

        return decoded(raw)

    def _take(self, event: dict[str, Any], raw: bytes) -> None:
        from paimonlab.ingest.sources.mongodb.values import extended  # noqa: PLC0415 - an extra

        token = extended(event["_id"])
        time_of = event.get("clusterTime")
        moment: Moment | None = None if time_of is None else (time_of.time, time_of.inc)
        millis = -1 if moment is None else moment[0] * 1000
        if "wallTime" in event:
            millis = int(event["wallTime"])
        if millis >= 0:
            self.seen_millis = millis
        table = _name_of(event.get("ns"))
        if table is not None and not (moment is not None and self.place.has(table, moment)):
            self._take_of(table, event, raw, token, millis)
        self.place = self.place.after(token, moment)

    def _take_of(
        self, table: str, event: dict[str, Any], raw: bytes, token: str, millis: int
    ) -> None:
        """Take a change of a collection that the documents do not have already."""
        what = event.get("operationType")
        if what == "rename":
            self._take_rename(table, _name_of(event.get("to")), token)
            return
        if not self._reads(table):
            return
        found = self.gathered
        match what:
            case "insert" | "replace" | "update":
                document = event.get("fullDocument")
                if document is None:
                    return  # it was deleted since, which is told later
                kind = RowKind.INSERT if what == "insert" else RowKind.UPDATE_AFTER
                found.change(table, kind, document, raw, token, millis)
            case "delete":
                key = {"_id": (event.get("documentKey") or {}).get("_id")}
                found.change(table, RowKind.DELETE, key, raw, token, millis)
            case "drop":
                self._take_dropped(table, token, "drop")
            case _:  # indexes, options, shards: no document changes
                pass

    def _take_dropped(self, table: str, token: str, reason: str) -> None:
        self.gathered.kinds.pop(table, None)
        self.gathered.event(
            SourceSchemaChange(table=table, before=None, after=None, position=token, reason=reason)
        )

    def _take_rename(self, table: str, new: str | None, token: str) -> None:
        """Take a collection that has another name now: its documents are not told again."""
        if self._reads(table):
            self._take_dropped(table, token, f"rename to {new}")
        if new is not None and self._reads(new):
            self.gathered.event(Truncated(table=new, position=token, reason=f"rename of {table}"))
            self.place = self.place.before_rows([new])

    def _reads(self, table: str) -> bool:
        return self.source.wants(table) and self.wanted(table)


def _name_of(namespace: dict[str, Any] | None) -> str | None:
    if namespace is None or "coll" not in namespace:
        return None
    return f"{namespace['db']}.{namespace['coll']}"


def _transaction_of(event: dict[str, Any]) -> object:
    """Return what is equal for the changes of one transaction; None: it is of none."""
    if "txnNumber" not in event:
        return None
    return event["txnNumber"], repr(event.get("lsid"))
