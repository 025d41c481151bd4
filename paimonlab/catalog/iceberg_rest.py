"""Tables in a REST catalog of Iceberg's: ``metadata.iceberg.storage`` = ``rest-catalog``.

The catalog is told what changed, in one commit for each of Paimon's, and keeps metadata files of
its own.

Source: Iceberg's REST catalog specification and apache/paimon@1.4.2
``org.apache.paimon.iceberg.IcebergRestMetadataCommitter``; tables whose row ids do not begin at 0
are registered as since 2.0.
"""

from __future__ import annotations

import contextlib
import functools
import random
import threading
import time
import uuid
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import msgspec

from paimonlab.catalog.iceberg_signing import AwsSignatures
from paimonlab.catalog.rest.answers import ErrorDocument, RefusalError, refusal
from paimonlab.catalog.rest.client import TIMEOUTS, DoubtError, RestClient
from paimonlab.catalog.rest.credentials import Bearer, Credentials
from paimonlab.catalog.rest.paths import Paths
from paimonlab.catalog.rest.retrying import RetryPolicy
from paimonlab.catalog.rest.signing import SignedRequest
from paimonlab.clock import now_millis
from paimonlab.commit.iceberg.catalogs import NewestMetadata
from paimonlab.errors import AccessDeniedError, CatalogServerError, UnsupportedError
from paimonlab.secrets import hides_secrets
from paimonlab.spec.decoding import ready
from paimonlab.spec.iceberg import catalog_updates
from paimonlab.spec.iceberg.catalog_updates import ShownTable
from paimonlab.spec.iceberg.options import IcebergOptions, IcebergRest, is_signed
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field

_ATTEMPTS = 5
"""How often the catalog is looked at again, after others changed it or an answer was lost."""
_READ_TIMEOUT, _CONNECT_TIMEOUT = TIMEOUTS
_TIMEOUTS = {
    "rest.client.socket-timeout-ms": (_READ_TIMEOUT, "30000"),
    "rest.client.connection-timeout-ms": (_CONNECT_TIMEOUT, "10000"),
}
_EARLY_SECONDS = 30
"""Tokens are renewed so long before they expire."""
_TOKENS = "/v1/oauth/tokens"
_LACKS_REGISTRATION = (404, 405, 406, 501)


class _Names(OptionSlice):
    """The table options that say how a table is called there."""

    database: str | None = option_field("metadata.iceberg.database", "string", None)
    """``metadata.iceberg.database``; None: that of the table."""
    table: str | None = option_field("metadata.iceberg.table", "string", None)
    """``metadata.iceberg.table``; None: that of the table."""


def iceberg_catalog(identifier: Identifier, options: Options) -> RestIcebergCatalog:
    """Return what tells a REST catalog of Iceberg's of a table."""
    names = options.slice(_Names)
    return RestIcebergCatalog(
        client=_client(tuple(sorted(options.slice(IcebergRest).properties.items()))),
        database=names.database or identifier.database,
        table=names.table or identifier.table,
        options=options.slice(IcebergOptions),
    )


@functools.lru_cache(maxsize=8)
def _client(properties: tuple[tuple[str, str], ...]) -> _IcebergClient:
    given = dict(properties)
    for key, (ours, default) in _TIMEOUTS.items():
        given[ours] = f"{given.get(key, default)} ms"
    return _IcebergClient(given)


class _Loaded(msgspec.Struct, rename="kebab"):
    metadata: ShownTable


class _Fault(msgspec.Struct):
    message: str | None = None
    type: str | None = None


class _FaultDocument(msgspec.Struct):
    error: _Fault | None = None


@hides_secrets
class _Token(msgspec.Struct):
    access_token: str
    expires_in: int | None = None


class _IcebergClient(RestClient):
    """Talks to a REST catalog of Iceberg's, which is like Paimon's but for errors and tokens."""

    def __init__(self, options: Mapping[str, str], merged: Mapping[str, str] | None = None) -> None:
        super().__init__(options, merged)
        self.policy = RetryPolicy(attempts=3, attempts_to_connect=2, deadline_seconds=60.0)

    @property
    def paths(self) -> Paths:
        """Paths of resources."""
        return Paths.below(self.options.get("prefix", ""))

    def _credentials_of(self, options: Mapping[str, str]) -> Credentials:
        chosen = options.get("rest.auth.type")
        if is_signed(options):
            return AwsSignatures.of(options, self.address)
        if chosen == "basic":
            pair = f"{options['rest.auth.basic.username']}:{options['rest.auth.basic.password']}"
            return _Fixed(f"Basic {b64encode(pair.encode()).decode()}")
        if chosen == "none":
            return _Fixed("")
        if options.get("credential"):
            return _ClientCredentials(options, self.address, self._post_form)
        return Bearer(options["token"]) if options.get("token") else _Fixed("")

    def _refusal(
        self, request: str, status: int, headers: Mapping[str, str], body: bytes
    ) -> RefusalError:
        try:
            fault = msgspec.json.decode(body, type=ready(_FaultDocument)).error
        except (msgspec.MsgspecError, UnicodeDecodeError):
            fault = None
        if fault is None or not fault.message:
            return refusal(self.address, request, status, headers, body)
        return RefusalError(self.address, request, status, ErrorDocument(message=fault.message))

    def load(self, *parts: str) -> ShownTable | None:
        """Return a table; None if there is none."""
        try:
            return self.get(_Loaded, *parts, query=[("snapshots", "all")]).metadata
        except RefusalError as error:
            if error.code == 404:
                return None
            raise error.public() from None

    def send(
        self,
        method: str,
        body: Mapping[str, Any] | None,
        *parts: str,
        query: tuple[tuple[str, str], ...] = (),
    ) -> bytes:
        """Send a change once; errors are those of `once`."""
        data = b"" if body is None else msgspec.json.encode(body)
        headers = self._headers(self.options)
        return self._exchange(
            method, self.paths.of(*parts), query, data, headers, is_question=False
        )

    def _post_form(self, address: str, form: Mapping[str, str]) -> bytes:
        """Send a form without credentials, such as one that asks for a token."""
        body = urlencode(form).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            response = self._pool().request(
                "POST", address, body=body, headers=headers, redirect=False, timeout=self._timeout
            )
        except Exception as error:  # noqa: BLE001 - of urllib3 and of sockets; the body is secret
            raise CatalogServerError.told(
                address, "POST", f"no token: {type(error).__name__}"
            ) from None
        if response.status >= 500:
            raise CatalogServerError.told(address, "POST", f"no token: {response.status}")
        if response.status != 200:
            raise AccessDeniedError(address, f"no token for the credential: {response.status}")
        return response.data


@dataclass(frozen=True, slots=True)
class _Fixed:
    """The same header for all requests; empty: none."""

    value: str = field(repr=False)

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        """Return it."""
        del request
        return {"Authorization": self.value} if self.value else {}


class _ClientCredentials:
    """Tokens of OAuth2 for an id and a secret: ``credential`` = ``id:secret``."""

    def __init__(
        self,
        options: Mapping[str, str],
        address: str,
        post: Callable[[str, Mapping[str, str]], bytes],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        name, colon, secret = options["credential"].partition(":")
        self._form = {
            "grant_type": "client_credentials",
            "scope": options.get("scope", "catalog"),
            **({"client_id": name} if colon else {}),
            "client_secret": secret if colon else name,
        }
        self._address = options.get("oauth2-server-uri") or address + _TOKENS
        self._post = post
        self._clock = clock
        self._token: tuple[str, float | None] | None = None
        self._turn = threading.Lock()

    def headers(self, request: SignedRequest) -> Mapping[str, str]:
        """Return a token that holds now."""
        del request
        with self._turn:
            known = self._token
            if known is None or (known[1] is not None and self._clock() >= known[1]):
                known = self._token = self._asked()
        return {"Authorization": f"Bearer {known[0]}"}

    def _asked(self) -> tuple[str, float | None]:
        data = self._post(self._address, self._form)
        try:
            token = msgspec.json.decode(data, type=ready(_Token))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise CatalogServerError.told(
                self._address, "POST", "the answer is not a token of OAuth2"
            ) from None
        if token.expires_in is None:
            return token.access_token, None
        left = max(token.expires_in - _EARLY_SECONDS, token.expires_in / 2)
        return token.access_token, self._clock() + left


@dataclass(frozen=True, slots=True, kw_only=True)
class RestIcebergCatalog:
    """One table of Iceberg's in a REST catalog; it and its namespace are made when they lack."""

    client: _IcebergClient
    database: str
    table: str
    options: IcebergOptions
    sleep: Callable[[float], None] = time.sleep

    def show_tags(self, newest: NewestMetadata) -> None:
        """Tell of tags; errors are those of `show`."""
        self.show(newest)

    def show(self, newest: NewestMetadata) -> None:
        """Tell what changed; see `IcebergCatalog`.

        Raises
        ------
        CatalogServerError
            If the catalog cannot be reached, or refuses. The commit stands; the next one tells it.
        AccessDeniedError
            If the catalog does not know who asks.
        UnsupportedError
            If it has a table of that name that is not this one.
        """
        problem = "others change the table at the same time"
        for attempt in range(_ATTEMPTS):
            if attempt:
                self.sleep(random.random() * 0.05 * 2**attempt)  # noqa: S311
            try:
                if self._told(newest):
                    return
            except DoubtError as error:  # the next look tells
                problem = error.problem
            except RefusalError as error:
                if error.code != 409:
                    raise error.public() from None
                problem = f"{error.code}: {error.problem}"
        problem += f" (after {_ATTEMPTS} attempts)"
        raise CatalogServerError.told(self.client.address, f"commit of {self._name}", problem)

    @property
    def _name(self) -> str:
        return f"{self.database}.{self.table}"

    @property
    def _tables(self) -> tuple[str, ...]:
        return ("namespaces", self.database, "tables")

    def _told(self, newest: NewestMetadata) -> bool:
        """Look at the table and tell what it lacks; False: look again."""
        metadata = newest.metadata
        shown = self.client.load(*self._tables, self.table)
        is_registered = catalog_updates.must_be_registered(metadata)
        if shown is None:
            if is_registered:
                self._register(newest)
                return True
            shown = self._created(newest)
        elif catalog_updates.is_placeholder(shown, metadata):
            if is_registered:
                self._replace(newest)
                return True
        elif not catalog_updates.is_of_table(shown, metadata):
            raise UnsupportedError(
                f"table {self._name} of {self.client.address}, which is not of this table",
                "drop it there, or give the table another name there: 'metadata.iceberg.database', "
                "'metadata.iceberg.table'",
            )
        elif catalog_updates.needs_new_table(shown, metadata):
            if not newest.is_newest():
                return True  # others told of what they committed after it
            if is_registered:
                self._replace(newest)
                return True
            self._drop()
            shown = self._created(newest)
        changes = catalog_updates.changes(shown, metadata, self.options)
        if changes.updates:
            identifier = {"namespace": [self.database], "name": self.table}
            body = {
                "identifier": identifier,
                "requirements": changes.requirements,
                "updates": changes.updates,
            }
            self.client.send("POST", body, *self._tables, self.table)
        return True

    def _created(self, newest: NewestMetadata) -> ShownTable:
        """Create the table without columns and rows."""
        new = catalog_updates.placeholder(newest.metadata)
        fields = [{**one} for one in new.spec]
        body = {
            "name": self.table,
            "schema": new.schema,
            **({"partition-spec": {"spec-id": 0, "fields": fields}} if fields else {}),
            "stage-create": False,
            "properties": new.properties,
        }
        try:
            data = self._into_namespace(body, *self._tables)
        except RefusalError as error:
            if error.code != 400:
                raise
            # Some catalogs want to be told where the table is.
            data = self.client.send(
                "POST", {**body, "location": newest.metadata.location}, *self._tables
            )
        try:
            return msgspec.json.decode(data, type=ready(_Loaded)).metadata
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            problem = f"the answer does not follow Iceberg's protocol, look at the uri: {error}"
            raise CatalogServerError.told(
                self.client.address, f"create {self._name}", problem
            ) from None

    def _into_namespace(self, body: Mapping[str, Any], *parts: str) -> bytes:
        """Send what creates a table, and make the namespace if that is missing."""
        try:
            return self.client.send("POST", body, *parts)
        except RefusalError as error:
            if error.code != 404 or self._has_namespace():
                raise
        namespace = {"namespace": [self.database], "properties": {}}
        try:
            self.client.send("POST", namespace, "namespaces")
        except RefusalError as error:
            if error.code != 409:  # others were faster
                raise
        return self.client.send("POST", body, *parts)

    def _has_namespace(self) -> bool:
        try:
            self.client.get(_Anything, "namespaces", self.database)
        except RefusalError as error:
            if error.code == 404:
                return False
            raise
        return True

    def _replace(self, newest: NewestMetadata) -> None:
        """Take over the metadata in the place of a table that cannot become it."""
        path = self._registered_file(newest)
        with contextlib.suppress(_TakenError):
            self._take_over(path)  # so a server that cannot do it says so before the table is gone
            return
        self._drop()
        self._take_over(path)

    def _register(self, newest: NewestMetadata) -> None:
        self._take_over(self._registered_file(newest))

    def _registered_file(self, newest: NewestMetadata) -> str:
        data = catalog_updates.registered(newest.metadata, self.options, now_millis())
        name = f"rest-register-v{newest.metadata.current_snapshot_id}-{uuid.uuid4()}.metadata.json"
        return newest.write(name, data)

    def _take_over(self, path: str) -> None:
        body = {"name": self.table, "metadata-location": path}
        try:
            self._into_namespace(body, "namespaces", self.database, "register")
        except RefusalError as error:
            if error.code == 409:
                raise _TakenError(
                    error.address, error.request, error.status, error.document
                ) from None
            if error.code in _LACKS_REGISTRATION:
                raise UnsupportedError(
                    f"registering table {self._name} at {self.client.address}",
                    "ids of its rows do not begin at 0, as after a rollback, so it cannot be made "
                    f"by updates in version 3: {error.problem}",
                ) from None
            raise

    def _drop(self) -> None:
        """Drop the table; its files are Paimon's and stay."""
        keeps_files = (("purgeRequested", "false"),)
        try:
            self.client.send("DELETE", None, *self._tables, self.table, query=keeps_files)
        except RefusalError as error:
            if error.code != 404:
                raise


class _Anything(msgspec.Struct):
    """An answer that nothing is read of."""


class _TakenError(RefusalError):
    """A table of that name exists."""
