"""A metastore that answers as that of Hive 4.1 does, written from its protocol; all is in memory.

Names are lower case. It has no ``get_table`` and no ``get_table_objects_by_name``, which went in
4.0.1. Structs have fields that older ones lack. A managed table that is not transactional becomes
an external one whose files are purged, as the metastore's default transformer has it
(``org.apache.hadoop.hive.metastore.MetastoreDefaultTransformer``).

Sources: apache/hive ``hive_metastore.thrift`` of 4.x, HIVE-26537; apache/iceberg-python#1222.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import itertools
import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paimonlab.catalog.hive import client

_REMOVED = ("get_table", "get_table_objects_by_name")
_MORE_FIELDS = {
    "Database": "8: optional string catalogName, 9: optional i32 createTime,"
    " 10: optional string managedLocationUri",
    "Table": "15: optional bool rewriteEnabled, 17: optional string catName,"
    " 18: optional PrincipalType ownerType, 19: optional i64 writeId,"
    " 20: optional bool isStatsCompliant, 22: optional byte accessType,"
    " 23: optional list<string> requiredReadCapabilities, 25: optional i64 id",
    "GetTableResult": "2: optional bool isStatsCompliant",
    "GetTableRequest": "4: optional string catName, 6: optional string validWriteIdList",
}


def protocol(folder: Path) -> Any:
    """Return the protocol of Hive 4.1, as far as a catalog asks it."""
    text = Path(client.__file__).with_name("metastore.thrift").read_text()
    for name in _REMOVED:
        text, count = re.subn(
            rf"^  [\w<>]+ {name}\([^)]*\)(\s+throws \([^)]*\))?\n", "", text, flags=re.MULTILINE
        )
        assert count == 1, name
    for name, fields in _MORE_FIELDS.items():
        text, count = re.subn(rf"(struct {name} {{[^}}]*)}}", rf"\1, {fields} }}", text)
        assert count == 1, name
    path = folder / "hms4.thrift"
    path.write_text(text)
    thriftpy2: Any = importlib.import_module("thriftpy2")
    return thriftpy2.load(str(path), module_name="hms4_thrift")


class Hms4:
    """What the calls do."""

    def __init__(self, thrift: Any) -> None:
        self._thrift = thrift
        self._turn = threading.RLock()
        self._databases: dict[str, Any] = {}
        self._tables: dict[tuple[str, str], Any] = {}
        self._partitions: dict[tuple[str, str], dict[tuple[str, ...], Any]] = {}
        self._locks: dict[int, tuple[str, str]] = {}
        self._numbers = itertools.count(1)
        self.calls: Counter[str] = Counter()
        self.create_database(thrift.Database(name="default", locationUri="file:/none"))

    def set_ugi(self, user_name: str, group_names: list[str]) -> list[str]:
        return [user_name, *group_names]

    def get_all_databases(self) -> list[str]:
        return sorted(self._databases)

    def get_database(self, name: str) -> Any:
        return copy.deepcopy(self._database(name))

    def create_database(self, database: Any) -> None:
        name = database.name.lower()
        if name in self._databases:
            raise self._thrift.AlreadyExistsException(f"Database {name} already exists")
        database.name, database.catalogName = name, "hive"
        database.parameters = dict(database.parameters or {})
        self._databases[name] = database

    def alter_database(self, dbname: str, db: Any) -> None:
        self._database(dbname)
        db.name = dbname.lower()
        self._databases[dbname.lower()] = db

    def drop_database(self, name: str, deleteData: bool, cascade: bool) -> None:  # noqa: N803
        self._database(name)
        inside = [key for key in self._tables if key[0] == name.lower()]
        if inside and not cascade:
            raise self._thrift.InvalidOperationException(f"Database {name} is not empty")
        for key in inside:
            del self._tables[key]
        del self._databases[name.lower()]

    def get_all_tables(self, db_name: str) -> list[str]:
        return sorted(name for of, name in self._tables if of == db_name.lower())

    def get_table_req(self, req: Any) -> Any:
        return self._thrift.GetTableResult(
            table=copy.deepcopy(self._table(req.dbName, req.tblName))
        )

    def get_table_objects_by_name_req(self, req: Any) -> Any:
        if req.dbName.lower() not in self._databases:
            raise self._thrift.UnknownDBException(f"Could not find database hive.{req.dbName}")
        keys = [(req.dbName.lower(), name.lower()) for name in req.tblNames or ()]
        found = [copy.deepcopy(self._tables[key]) for key in keys if key in self._tables]
        return self._thrift.GetTablesResult(tables=found)

    def create_table(self, tbl: Any) -> None:
        self._database(tbl.dbName)
        key = (tbl.dbName.lower(), tbl.tableName.lower())
        if key in self._tables:
            raise self._thrift.AlreadyExistsException(f"Table hive.{'.'.join(key)} already exists")
        tbl.dbName, tbl.tableName = key
        tbl.catName, tbl.writeId, tbl.id = "hive", -1, next(self._numbers)
        tbl.parameters = dict(tbl.parameters or {})
        if tbl.tableType == "MANAGED_TABLE" and "transactional" not in tbl.parameters:
            tbl.tableType = "EXTERNAL_TABLE"
            tbl.parameters |= {"EXTERNAL": "TRUE", "external.table.purge": "TRUE"}
            tbl.parameters["TRANSLATED_TO_EXTERNAL"] = "TRUE"
        tbl.parameters.setdefault("transient_lastDdlTime", str(tbl.createTime))
        self._tables[key], self._partitions[key] = tbl, {}

    def alter_table_with_environment_context(
        self, dbname: str, tbl_name: str, new_tbl: Any, environment_context: Any
    ) -> None:
        old = (dbname.lower(), tbl_name.lower())
        if old not in self._tables:
            raise self._thrift.InvalidOperationException(f"table hive.{'.'.join(old)} not found")
        new = (new_tbl.dbName.lower(), new_tbl.tableName.lower())
        if new != old and new in self._tables:
            raise self._thrift.InvalidOperationException(
                f"new table {'.'.join(new)} already exists"
            )
        new_tbl.dbName, new_tbl.tableName = new
        new_tbl.id = self._tables.pop(old).id
        self._tables[new], self._partitions[new] = new_tbl, self._partitions.pop(old)

    def drop_table_with_environment_context(
        self,
        dbname: str,
        name: str,
        deleteData: bool,  # noqa: N803
        environment_context: Any,
    ) -> None:
        self._table(dbname, name)
        del self._tables[dbname.lower(), name.lower()]

    def add_partitions_req(self, request: Any) -> Any:
        self._table(request.dbName, request.tblName)
        there = self._partitions[request.dbName.lower(), request.tblName.lower()]
        for one in request.parts:
            if tuple(one.values) in there and not request.ifNotExists:
                raise self._thrift.AlreadyExistsException("Partition already exists")
            there.setdefault(tuple(one.values), one)
        return self._thrift.AddPartitionsResult()

    def drop_partitions_req(self, req: Any) -> Any:
        keys = [one.name for one in self._table(req.dbName, req.tblName).partitionKeys]
        there = self._partitions[req.dbName.lower(), req.tblName.lower()]
        for values in [*there]:
            if "/".join(f"{k}={v}" for k, v in zip(keys, values, strict=True)) in req.parts.names:
                del there[values]
        return self._thrift.DropPartitionsResult()

    def get_partitions(self, db_name: str, tbl_name: str, max_parts: int) -> list[Any]:
        self._table(db_name, tbl_name)
        return [*self._partitions[db_name.lower(), tbl_name.lower()].values()]

    def get_partition_names(self, db_name: str, tbl_name: str, max_parts: int) -> list[str]:
        keys = [one.name for one in self._table(db_name, tbl_name).partitionKeys]
        return [
            "/".join(f"{k}={v}" for k, v in zip(keys, values, strict=True))
            for values in self._partitions[db_name.lower(), tbl_name.lower()]
        ]

    def lock(self, rqst: Any) -> Any:
        (wanted,) = rqst.component
        number = next(self._numbers)
        self._locks[number] = (wanted.dbname.lower(), wanted.tablename.lower())
        return self._state(number)

    def check_lock(self, rqst: Any) -> Any:
        self._known(rqst.lockid)
        return self._state(rqst.lockid)

    def unlock(self, rqst: Any) -> None:
        self._known(rqst.lockid)
        del self._locks[rqst.lockid]

    def heartbeat(self, ids: Any) -> None:
        self._known(ids.lockid)

    def _state(self, number: int) -> Any:
        wanted, states = self._locks[number], self._thrift.LockState
        first = min(one for one, place in self._locks.items() if place == wanted)
        state = states.ACQUIRED if first == number else states.WAITING
        return self._thrift.LockResponse(lockid=number, state=state)

    def _known(self, number: int) -> None:
        if number not in self._locks:
            raise self._thrift.NoSuchLockException(f"No such lock lockid:{number}")

    def _database(self, name: str) -> Any:
        found = self._databases.get(name.lower())
        if found is None:
            raise self._thrift.NoSuchObjectException(f"database hive.{name} not found")
        return found

    def _table(self, database: str, name: str) -> Any:
        found = self._tables.get((database.lower(), name.lower()))
        if found is None:
            raise self._thrift.NoSuchObjectException(f"hive.{database}.{name} table not found")
        return found

    def called(self, name: str, *arguments: Any) -> Any:
        """Do one call after the other."""
        with self._turn:
            self.calls[name] += 1
            return getattr(self, name)(*arguments)


class _Counting:
    """Counts calls on their way."""

    def __init__(self, metastore: Hms4) -> None:
        self._metastore = metastore

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self._metastore.called(name, *arguments)


@contextlib.contextmanager
def running(folder: Path) -> Iterator[tuple[Hms4, str]]:
    """Serve on 127.0.0.1; yield what it has, and its address."""
    thrift = protocol(folder)
    metastore = Hms4(thrift)
    calls, transports, protocols = (
        importlib.import_module(f"thriftpy2.{name}") for name in ("thrift", "transport", "protocol")
    )
    processor = calls.TProcessor(thrift.Metastore, _Counting(metastore))
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        plain = transports.TSocket(sock=connection)
        transport = transports.TBufferedTransportFactory().get_transport(plain)
        spoken = protocols.TBinaryProtocolFactory().get_protocol(transport)
        with contextlib.suppress(Exception):  # the client closed it
            while True:
                processor.process(spoken, spoken)
        transport.close()

    def accept() -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with listening:
        yield metastore, f"thrift://127.0.0.1:{listening.getsockname()[1]}"
