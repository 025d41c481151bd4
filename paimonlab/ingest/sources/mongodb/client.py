"""A cluster of MongoDB, asked by pymongo: collections, their documents, and what changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bson import Timestamp
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient
from pymongo.change_stream import ChangeStream
from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.errors import ConnectionFailure, CursorNotFound, OperationFailure, PyMongoError

from paimonlab.errors import SourceError
from paimonlab.ingest.sources.login_options import check_options
from paimonlab.ingest.sources.mongodb.positions import Moment
from paimonlab.ingest.sources.mongodb.values import ID, extended, from_extended
from paimonlab.ingest.sources.silence import ConnectionEndedError
from paimonlab.secrets import hides_secrets

_OURS = {
    "hosts": "give it as hosts=",
    "username": "give it as user=",
    "document_class": "documents are decoded here",
    "readConcernLevel": "it is majority: what may be rolled back is not read",
    "uuidRepresentation": "a UUID is written by its bytes, in their order",
}
_SECRETS = ("password", "tlsCertificateKeyFilePassword", "authMechanismProperties")
_BY_ID: list[str | tuple[str, int | str | Mapping[str, Any]]] = [(ID, 1)]
_SYSTEM = ("admin", "config", "local")
_MILLIS_TO_FIND = 8_000
_MILLIS_TO_ANSWER = 30_000
"""Without a word of a server that was asked, before it is taken for gone."""
_AWAIT_MILLIS = 400
_LOST, _NO_REPLICA_SET, _UNKNOWN_RESUME, _UNAUTHORIZED, _REFUSED = 286, 40573, 280, 13, 18
_ADVICE = {
    _LOST: "what changed after the last position is not in the oplog any more: forget the job and "
    "let it begin anew, and let the oplog hold more (storage.oplogMinRetentionHours)",
    _UNKNOWN_RESUME: "its position is not known there: is it another cluster? Forget the job and "
    "let it begin anew",
    _NO_REPLICA_SET: "changes are told by replica sets and sharded clusters only: start mongod "
    "with --replSet",
    _UNAUTHORIZED: "grant find, listCollections, listDatabases and changeStream on the databases",
    _REFUSED: "the user or the password is wrong",
}


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class Login:
    """How a cluster is reached."""

    hosts: str
    """``host:port``, several with commas."""
    srv: bool = False
    """Whether ``hosts`` is a name of which DNS tells the hosts."""
    user: str | None = None
    password_env: str | None = None
    password_file: str | None = None
    database: str | None = None
    """Whose changes are asked for; None: those of all databases."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of connection strings: ``replicaSet``, ``tls``, ``authSource`` …"""

    def __post_init__(self) -> None:
        if "@" in self.hosts or "/" in self.hosts:
            raise ValueError("hosts are host:port, with commas; user, options and so on by name")
        check_options(
            "MongoDB",
            self.options,
            ours=_OURS,
            secrets=_SECRETS,
            instead="name where the password is: password_env= or password_file=",
        )
        if self.password_env is not None and self.password_file is not None:
            raise ValueError("give password_env or password_file, not both")

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"mongodb {self.hosts}"

    def client(self) -> MongoClient[RawBSONDocument]:
        """Make a client; it connects when it is used."""
        told: dict[str, Any] = {
            "appname": "paimonlab",
            "serverSelectionTimeoutMS": _MILLIS_TO_FIND,
            "connectTimeoutMS": _MILLIS_TO_FIND,
            "socketTimeoutMS": _MILLIS_TO_ANSWER,
        }
        told = {name: value for name, value in told.items() if name not in self.options}
        if self.user is not None:
            told["username"] = self.user
            told["password"] = self._password()
        scheme = "mongodb+srv" if self.srv else "mongodb"
        return MongoClient(
            f"{scheme}://{self.hosts}/?{urlencode(self.options)}",
            document_class=RawBSONDocument,
            datetime_conversion="DATETIME_MS",
            readConcernLevel="majority",
            **told,
        )

    def _password(self) -> str | None:
        if self.password_env is not None:
            if self.password_env not in os.environ:
                raise SourceError(
                    self.name, f"{self.password_env} is not in the environment: MongoDB's password"
                )
            return os.environ[self.password_env]
        if self.password_file is None:
            return None
        try:
            return Path(self.password_file).read_text(encoding="utf-8").partition("\n")[0]
        except OSError as error:
            raise SourceError(self.name, f"its password cannot be read: {error}") from error


class Cluster:
    """Connections to a cluster; all errors are `SourceError`."""

    def __init__(self, login: Login) -> None:
        self._login = login
        with self._told():
            self._client = login.client()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def collections(self) -> list[str]:
        """Return ``database.collection`` of all that have documents of their own, sorted."""
        found = []
        with self._told():
            database = self._login.database
            names = self._client.list_database_names() if database is None else [database]
            for name in names:
                if name not in _SYSTEM:
                    listed = self._client[name].list_collection_names(filter={"type": "collection"})
                    found += [f"{name}.{one}" for one in listed if not one.startswith("system.")]
        return sorted(found)

    def estimated_count(self, table: str) -> int:
        """Return about how many documents a collection has."""
        with self._told():
            return self._collection(table).estimated_document_count()

    @contextmanager
    def session(self) -> Iterator[tuple[ClientSession, Moment]]:
        """Open a session whose reads see all that changed up to a moment, which it returns."""
        with self._told():
            session = self._client.start_session(causal_consistency=True)
            self._client.admin.command("ping", session=session)
            now = session.operation_time
        if now is None:
            raise SourceError(self._login.name, _ADVICE[_NO_REPLICA_SET])
        with session:
            yield session, (now.time, now.inc)

    def documents(self, table: str, session: ClientSession, after: str | None) -> Iterator[bytes]:
        """Yield the documents of a collection in BSON, in the order of their ``_id``.

        Parameters
        ----------
        table
            ``database.collection``.
        session
            Of `session`.
        after
            Extended JSON of the ``_id`` that was read last; None: from the first one.
        """
        collection = self._collection(table)
        last = None if after is None else from_extended(after)
        while True:
            # Bounds of the index, since $gt finds only values of one kind.
            found = collection.find(session=session, hint=_BY_ID)
            if after is not None:
                bound: list[tuple[str, Any]] = [(ID, last)]
                found = found.min(bound)
            try:
                with self._told(), found:
                    for document in found:
                        if after is None or document[ID] != last:
                            yield bytes(document.raw)
                        last, after = document[ID], ""
            except CursorNotFound:  # nobody asked for ten minutes
                continue
            return

    def changes(self, token: str | None, at: Moment | None, full_document: str) -> Changes:
        """Begin to read what changes after a token, or from a moment on, or from now on.

        Parameters
        ----------
        token
            As extended JSON.
        at
            A moment that the oplog still has.
        full_document
            What the server tells of a document that was updated: ``updateLookup`` or ``required``.
        """
        database = self._login.database
        where: Any = self._client if database is None else self._client[database]
        start: dict[str, Any] = {}
        if token is not None:
            start["start_after"] = from_extended(token)
        elif at is not None:
            start["start_at_operation_time"] = Timestamp(*at)
        with self._told():
            return Changes(
                where.watch(full_document=full_document, max_await_time_ms=_AWAIT_MILLIS, **start),
                self._told,
            )

    def _collection(self, table: str) -> Collection[RawBSONDocument]:
        database, _, name = table.partition(".")
        return self._client[database][name]

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say what a failure means."""
        try:
            yield
        except CursorNotFound:
            raise
        except OperationFailure as error:
            advice = _ADVICE.get(error.code or 0)
            said = str((error.details or {}).get("errmsg", error))
            problem = said if advice is None else f"{said}: {advice}"
            raise SourceError(self._login.name, problem) from error
        except ConnectionFailure as error:
            raise ConnectionEndedError(
                self._login.name, f"it cannot be reached: {error}"
            ) from error
        except (PyMongoError, ValueError) as error:
            raise SourceError(self._login.name, str(error)) from error


class Changes:
    """A change stream that is open."""

    def __init__(
        self,
        stream: ChangeStream[RawBSONDocument],
        told: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._stream = stream
        self._told = told

    @property
    def token(self) -> str:
        """Extended JSON of the place after the last change, or after those that were passed over.

        Raises
        ------
        SourceError
            If the server does not tell.
        """
        token = self._stream.resume_token
        if token is None:
            raise SourceError("mongodb", "it tells no resume tokens: MongoDB 4.4 or newer is read")
        return extended(token)

    @property
    def is_open(self) -> bool:
        """Whether there may be more; else another one goes on after the token."""
        return self._stream.alive

    def next(self) -> bytes | None:
        """Return a change in BSON; None: there was none for a moment."""
        with self._told():
            found = self._stream.try_next()
        return None if found is None else bytes(found.raw)

    def close(self) -> None:
        """Close it."""
        with suppress(PyMongoError):
            self._stream.close()
