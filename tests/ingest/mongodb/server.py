"""What pymongo takes for a replica set: documents in memory, and the change events they make.

It speaks the part of MongoDB's wire protocol that a driver needs to find documents and to watch
them. Events have the shape of MongoDB's manual and of its specification of change streams; it is
no MongoDB, and orders ``_id`` by kind and value alone.
"""

from __future__ import annotations

import re
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bson
from bson import DatetimeMS, Int64, Timestamp
from bson.codec_options import CodecOptions, DatetimeConversion

_HEAD = struct.Struct("<iiii")
_OP_QUERY, _OP_REPLY, _OP_MSG = 2004, 1, 2013
_CODEC: CodecOptions[dict[str, Any]] = CodecOptions(
    document_class=dict, datetime_conversion=DatetimeConversion.DATETIME_MS
)
_BEGAN = 1_700_000_000
_MOST_SECONDS = 0.02
"""How long it waits for a change: servers may answer earlier than they are told."""
_KINDS = ["int", "Int64", "float", "str", "dict", "bytes", "Binary", "ObjectId", "bool"]
_HELLO = {
    "isWritablePrimary": True,
    "setName": "rs0",
    "maxBsonObjectSize": 16 << 20,
    "maxMessageSizeBytes": 48 << 20,
    "maxWriteBatchSize": 100_000,
    "logicalSessionTimeoutMinutes": 30,
    "minWireVersion": 0,
    "maxWireVersion": 21,
    "readOnly": False,
    "ok": 1.0,
}


@dataclass
class MongoServer:
    """Documents by ``database.collection``, and all that changed."""

    collections: dict[str, dict[bytes, dict[str, Any]]] = field(default_factory=dict)
    """By `key_of` their ``_id``, in order of insertion."""
    oplog: list[dict[str, Any]] = field(default_factory=list)
    batch: int = 101
    """Documents and events in an answer at most."""
    commands: list[dict[str, Any]] = field(default_factory=list)
    """All that were asked, but greetings."""
    lost: int = 0
    """Changes that the oplog has no more."""
    is_gone: Callable[[str], bool] = lambda _command: False
    """Whether the connection ends that asked a command, or greets."""
    before: Callable[[str], object] = lambda _command: None
    """Called with the name of each command before it is answered."""
    port: int = 0
    _cursors: dict[int, Any] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    @property
    def hosts(self) -> str:
        return f"127.0.0.1:{self.port}"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Answer nobody who asks for changes while the block changes documents."""
        with self._changed:
            yield

    # What changes

    def insert(self, table: str, *documents: dict[str, Any], **more: Any) -> None:
        for document in documents:
            self.collections.setdefault(table, {})[key_of(document["_id"])] = document
            self._note("insert", table, document["_id"], fullDocument=dict(document), **more)

    def update(self, table: str, key: Any, **members: Any) -> None:
        documents, place = self.collections[table], key_of(key)
        documents[place] = {**documents[place], **members}  # others may be writing the old one
        described = {"updatedFields": members, "removedFields": [], "truncatedArrays": []}
        self._note("update", table, key, updateDescription=described)

    def replace(self, table: str, document: dict[str, Any]) -> None:
        self.collections[table][key_of(document["_id"])] = document
        self._note("replace", table, document["_id"], fullDocument=dict(document))

    def delete(self, table: str, key: Any) -> None:
        del self.collections[table][key_of(key)]
        self._note("delete", table, key)

    def drop(self, table: str) -> None:
        self.collections.pop(table, None)
        self._note("drop", table)

    def rename(self, table: str, new: str) -> None:
        self.collections[new] = self.collections.pop(table)
        database, _, name = new.partition(".")
        self._note("rename", table, to={"db": database, "coll": name})

    def note(self, event: dict[str, Any]) -> None:
        """Add an event as it is but for its token and its time."""
        with self._changed:
            count = len(self.oplog) + 1
            token = {"_data": f"82{_BEGAN + count:08X}"}
            self.oplog.append({"_id": token, "clusterTime": self._time(count), **event})
            self._changed.notify_all()

    def _note(self, operation: str, table: str, key: Any = None, **more: Any) -> None:
        database, _, name = table.partition(".")
        event: dict[str, Any] = {
            "operationType": operation,
            "wallTime": DatetimeMS((_BEGAN + len(self.oplog)) * 1000 + 250),
            **more,
            "ns": {"db": database, "coll": name},
        }
        if operation in ("insert", "update", "replace", "delete"):
            event["documentKey"] = {"_id": key}
        self.note(event)

    def _time(self, count: int) -> Timestamp:
        return Timestamp(_BEGAN + count, 1)

    # What is asked

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a command."""
        command = next(iter(asked))
        if command.lower() in ("hello", "ismaster"):
            me = self.hosts
            return {**_HELLO, "me": me, "primary": me, "hosts": [me]}
        self.before(command)
        self.commands.append(asked)
        found = getattr(self, re.sub("[A-Z]", lambda one: f"_{one[0].lower()}", f"_{command}"))(
            asked
        )
        return {**found, "operationTime": self._time(len(self.oplog)), "ok": found.get("ok", 1.0)}

    def _ping(self, _asked: dict[str, Any]) -> dict[str, Any]:
        return {}

    _end_sessions = _ping

    def _kill_cursors(self, asked: dict[str, Any]) -> dict[str, Any]:
        for number in asked["cursors"]:
            self._cursors.pop(int(number), None)
        return {}

    def _list_databases(self, _asked: dict[str, Any]) -> dict[str, Any]:
        names = {name.partition(".")[0] for name in (*self.collections, "admin.x", "local.x")}
        return {"databases": [{"name": name} for name in sorted(names)]}

    def _list_collections(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert asked["filter"] == {"type": "collection"}
        mine = [name.partition(".") for name in self.collections]
        names = [name for database, _, name in mine if database == asked["$db"]]
        return self._begin(asked["$db"], [{"name": name, "type": "collection"} for name in names])

    def _count(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"n": len(self.collections.get(f"{asked['$db']}.{asked['count']}", ()))}

    def _find(self, asked: dict[str, Any]) -> dict[str, Any]:
        table = f"{asked['$db']}.{asked['find']}"
        assert asked["hint"] == {"_id": 1}
        assert asked["readConcern"]["level"] == "majority"
        assert "afterClusterTime" in asked["readConcern"]
        found = sorted(self.collections.get(table, {}).values(), key=_order)
        if "min" in asked:
            found = [one for one in found if _order(one) >= _order(asked["min"])]
        return self._begin(table, found)

    def _begin(self, table: str, documents: list[Any]) -> dict[str, Any]:
        number = len(self.commands)
        first, self._cursors[number] = documents[: self.batch], documents[self.batch :]
        more = number if self._cursors[number] else 0
        return {"cursor": {"id": Int64(more), "ns": table, "firstBatch": first}}

    def _aggregate(self, asked: dict[str, Any]) -> dict[str, Any]:
        told = asked["pipeline"][0]["$changeStream"]
        scope = None if told.get("allChangesForCluster") else asked["$db"]
        after = told.get("startAfter") or told.get("resumeAfter")
        if after is not None:
            place = int.from_bytes(bytes.fromhex(after["_data"])[1:]) - _BEGAN
        elif "startAtOperationTime" in told:
            place = max(told["startAtOperationTime"].time - _BEGAN - 1, 0)
        else:
            place = len(self.oplog)
        if place < self.lost:
            text = "Resume of change stream was not possible, as the resume point may no longer be"
            return {"ok": 0.0, "errmsg": f"{text} in the oplog.", "code": 286}
        number = len(self.commands)
        self._cursors[number] = [scope, place, told.get("fullDocument")]
        return self._events(number, "firstBatch", 0)

    def _get_more(self, asked: dict[str, Any]) -> dict[str, Any]:
        number = int(asked["getMore"])
        rest = self._cursors.get(number)
        if rest is None:
            return {"ok": 0.0, "errmsg": f"cursor id {number} not found", "code": 43}
        if rest and isinstance(rest[-1], dict):
            batch, self._cursors[number] = rest[: self.batch], rest[self.batch :]
            more = number if self._cursors[number] else 0
            return {"cursor": {"id": Int64(more), "ns": "d.c", "nextBatch": batch}}
        return self._events(number, "nextBatch", asked.get("maxTimeMS", 0) / 1000)

    def _events(self, number: int, word: str, seconds: float) -> dict[str, Any]:
        scope, place, full = self._cursors[number]
        with self._changed:
            if len(self.oplog) == place and seconds:
                self._changed.wait(min(seconds, _MOST_SECONDS))
            found = self.oplog[place : place + self.batch]
        self._cursors[number][1] = place + len(found)
        shown = [
            self._looked_up(one, full)
            for one in found
            if scope in (None, one.get("ns", {}).get("db", scope))
        ]
        closes = any(one["operationType"] == "invalidate" for one in shown)
        token = {"_data": f"82{_BEGAN + place + len(found):08X}"}
        cursor = {"id": Int64(0 if closes else number), "ns": "admin.$cmd.aggregate"}
        return {"cursor": {**cursor, word: shown, "postBatchResumeToken": token}}

    def _looked_up(self, event: dict[str, Any], full: str | None) -> dict[str, Any]:
        if event["operationType"] != "update" or full is None or "fullDocument" in event:
            return event
        where = f"{event['ns']['db']}.{event['ns']['coll']}"
        document = self.collections.get(where, {}).get(key_of(event["documentKey"]["_id"]))
        return {**event, "fullDocument": document}


def key_of(value: Any) -> bytes:
    """Return what differs for values that differ."""
    return bson.encode({"": value})


def _order(document: dict[str, Any]) -> tuple[int, Any]:
    key = document["_id"]
    kind = _KINDS.index(type(key).__name__)
    return (0, key) if kind < 3 else (kind, key_of(key) if isinstance(key, dict) else key)


class _Connection(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server: MongoServer = self.server.mongo  # type: ignore[attr-defined]
        while len(head := self.rfile.read(_HEAD.size)) == _HEAD.size:
            size, number, _, code = _HEAD.unpack(head)
            body = self.rfile.read(size - _HEAD.size)
            if code == _OP_QUERY:  # the greeting of drivers
                place = body.index(b"\0", 4) + 9
                asked = bson.decode(body[place:], _CODEC)
                if server.is_gone(next(iter(asked))):
                    return
                said = bson.encode(server.answer(asked))
                answer = struct.pack("<iqii", 8, 0, 0, 1) + said
                code = _OP_REPLY
            else:
                assert code == _OP_MSG
                assert body[4] == 0, "one document"
                length = struct.unpack_from("<i", body, 5)[0]
                asked = bson.decode(body[5 : 5 + length], _CODEC)
                if server.is_gone(next(iter(asked))):
                    return
                found = server.answer(asked)
                answer = b"\0\0\0\0\0" + bson.encode(found)
            self.wfile.write(_HEAD.pack(_HEAD.size + len(answer), 0, number, code) + answer)


class _Listening(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False


@contextmanager
def mongo_server() -> Iterator[MongoServer]:
    """Run one on a free port."""
    made = MongoServer()
    with _Listening(("127.0.0.1", 0), _Connection) as listening:
        listening.mongo = made  # type: ignore[attr-defined]
        made.port = listening.server_address[1]
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield made
        finally:
            listening.shutdown()
            thread.join()
