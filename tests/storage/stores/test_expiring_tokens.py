"""Files of a table whose tokens expire while they are read and written.

The time is a number that tests move on. ``PAIMONLAB_TOKEN_SECONDS=20`` lets tokens live for so many
real seconds, and reads last for three times as long.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

import paimonlab as pl
from paimonlab.catalog.rest import stores
from paimonlab.catalog.rest.stores import TokenSource, VendedFileIO
from paimonlab.catalog.rest.wire import TokenAnswer
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.storage.stores import connecting, object_outputs
from tests.storage.stores import azurite, scripted
from tests.storage.stores.conftest import oss_options_of
from tests.storage.stores.proxy import Fault, proxy_of
from tests.waiting import until

REAL_SECONDS = float(os.environ.get("PAIMONLAB_TOKEN_SECONDS", "0"))
LIVES_SECONDS = REAL_SECONDS or 20.0
FILES = 200
PART_BYTES = 300_000
_REUSED_SECONDS = 0.1
"""For so long obstore uses keys again, whatever the time of a test says of their end."""


class Clock:
    """A time that only tests move on, or the real one."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def now(self) -> float:
        return time.time() if REAL_SECONDS else self._seconds

    def sleep(self, seconds: float) -> None:
        if REAL_SECONDS:
            time.sleep(seconds)
        self._seconds += seconds


@dataclass
class Vending:
    """A store that takes tokens until they end, and what hands them out."""

    service: scripted.Service
    keys: Callable[[str], Mapping[str, str]]
    """The options that carry a token."""
    options: Mapping[str, str] = field(default_factory=dict)
    """How the store is reached without one."""
    clock: Clock = field(default_factory=Clock)
    ends: dict[str, float] = field(default_factory=dict)
    """Of each token that was handed out."""
    late: list[str] = field(default_factory=list)
    """Keys that were asked for with a token that had ended."""
    pause_seconds: float = 0.0
    """So long a request for a data file takes, one after the other."""
    grace_seconds: float = 0.0
    """For so long a token is taken after its end."""
    turn: threading.Lock = field(default_factory=threading.Lock)
    read: set[str] = field(default_factory=set)
    """Keys that were asked for with a token that held."""

    def token(self, *_: object) -> TokenAnswer:
        name, end = f"token{len(self.ends)}-zqhush", self.clock.now() + LIVES_SECONDS
        self.ends[name] = end
        return TokenAnswer(token=dict(self.keys(name)), expires_at_millis=int(end * 1000))

    @property
    def parts(self) -> int:
        """How many parts of unfinished objects are there."""
        return sum(map(len, self.service.uploads.values()))

    def admits(self, token: str, key: str) -> bool:
        if token not in self.ends:
            return token in ("", scripted.TOKEN)  # of the server, which has other keys
        holds = self.clock.now() < self.ends[token] + self.grace_seconds
        if holds:
            self.read.add(key)
        else:
            self.late.append(key)
        if key.endswith(".parquet"):
            with self.turn:
                self.clock.sleep(self.pause_seconds)
                time.sleep(_REUSED_SECONDS / 10 if self.pause_seconds else 0)
        return holds


@pytest.fixture(params=["oss", "gcs"])
def vending(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vending]:
    with scripted.serving(request.param) as service:
        if request.param == "oss":
            told = dict(oss_options_of(service.url))
            secret = {key: told[key] for key in told if "accessKey" in key}
            made = Vending(service, lambda token: {**secret, "fs.oss.securityToken": token}, told)
        else:
            monkeypatch.setenv("GOOGLE_BEARER_TOKEN", scripted.TOKEN)
            told = {"warehouse": "gs://lake/w", "gs.storage.root.url": service.url}
            made = Vending(service, lambda token: {"gcs.oauth2.token": token}, told)
        service.admits = made.admits
        if not REAL_SECONDS:
            monkeypatch.setattr(stores, "now_millis", lambda: int(made.clock.now() * 1000))
            monkeypatch.setattr(connecting, "_RENEWED", timedelta(0))
        yield made


def test_a_long_read_asks_for_few_tokens(vending: Vending, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimonlab.catalog.rest_server.service._no_tokens", vending.token)
    served = pl.connect(vending.options)
    served.create_database("db")
    fields = {"p": "INT NOT NULL", "id": "INT"}
    table = served.create_table("db.t", fields, partition_keys=["p"])
    table.write([{"p": number, "id": number} for number in range(FILES)])
    of_data = {key for key in vending.service.objects if key.endswith(".parquet")}
    assert len(of_data) == FILES
    told = {key: text for key, text in vending.options.items() if "accessKey" not in key}
    defaults = {"data-token.enabled": "true", **told}
    with Server(served, [User(name="me", token="t")], ServeOptions(defaults=defaults)) as server:
        scan = pl.connect(server.options).table("db.t").scan()
        vending.pause_seconds, began = 3 * LIVES_SECONDS / FILES, vending.clock.now()
        if not REAL_SECONDS:  # other threads move the time on while a request is on its way
            vending.grace_seconds = LIVES_SECONDS
        found = scan.to_arrow().column("id").to_pylist()

    assert sorted(found) == list(range(FILES))
    assert vending.clock.now() - began > 2.9 * LIVES_SECONDS
    assert vending.late == []
    assert of_data <= vending.read, "with tokens alone"
    assert 4 <= len(vending.ends) <= 5


class _Client:
    """What a source asks for options."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options


def test_what_is_open_in_azure_goes_on_with_a_new_signature(
    azure_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server takes only the newest signature, of which there is one for each hour."""
    name = f"lake-{uuid.uuid4()}"
    azurite.make_container(azure_server, name)
    hours, given = 0, list[str]()
    end = datetime.now(UTC) + timedelta(days=1)

    def token(_: TokenSource) -> TokenAnswer:
        given.append(azurite.signature(end + timedelta(hours=hours)))
        return TokenAnswer(
            token={"azure.sas.fixed.token": given[-1]},
            expires_at_millis=(hours + 2) * 3_600_000,
        )

    def choose(method: str, path: str, is_conditional: bool) -> Fault | None:
        del method, is_conditional
        newest = dict(parse_qsl(given[-1]))["sig"]
        return None if dict(parse_qsl(urlsplit(path).query)).get("sig") == newest else "403"

    monkeypatch.setattr(stores, "now_millis", lambda: hours * 3_600_000)
    monkeypatch.setattr(TokenSource, "token", token)
    monkeypatch.setattr(connecting, "_RENEWED", timedelta(0))
    monkeypatch.setattr(object_outputs, "PART_BYTES", size := 300_000)
    part = os.urandom(size)
    with proxy_of(azure_server) as between:
        between.choose = choose
        endpoint = f"{between.url}/{azurite.ACCOUNT}"
        client = _Client({"azure.endpoint": endpoint})
        root = f"abfs://{name}@{azurite.ACCOUNT}.dfs.core.windows.net/t"
        files = VendedFileIO(root, TokenSource(client, None))  # type: ignore[arg-type]
        with files.open_output(f"{root}/large") as writing:
            before = between.asked["PUT"]
            for number in range(2):
                writing.write(part)  # goes on in the background
                until(lambda sent=before + number: between.asked["PUT"] > sent)  # type: ignore[misc]
                hours += 2
        with files.open_input(f"{root}/large") as reading:
            for number in range(2):
                hours += 2
                reading.seek(number * size)
                assert reading.read(size) == part
    assert between.done["403"] == 0
    assert len(given) > 2


def test_what_is_open_goes_on_when_its_token_has_expired(
    vending: Vending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TokenSource, "token", vending.token)
    monkeypatch.setattr(object_outputs, "PART_BYTES", PART_BYTES)
    options = {key: text for key, text in vending.options.items() if "accessKey" not in key}
    root = vending.options["warehouse"] + "/t"
    files = VendedFileIO(root, TokenSource(_Client(options), None))  # type: ignore[arg-type]
    part, wait = os.urandom(PART_BYTES), 1.5 * LIVES_SECONDS
    small, large = f"{root}/small", f"{root}/large"
    files.publish(f"{root}/warm", b"1")

    slow = files.open_output(small)
    slow.write(b"x" * 1000)
    with files.open_output(large) as writing:
        for number in range(2):
            vending.clock.sleep(wait)
            writing.write(part)
            until(lambda sent=number + 1: vending.parts == sent)  # type: ignore[misc]
    slow.close()
    with files.open_input(large) as reading:
        for number in range(2):
            vending.clock.sleep(wait)
            reading.seek(number * PART_BYTES)
            assert reading.read(PART_BYTES) == part

    assert files.read(small) == b"x" * 1000
    assert vending.late == []
    assert len(vending.ends) == 5, "no token for each request"
