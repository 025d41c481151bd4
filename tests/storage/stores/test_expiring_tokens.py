"""Files of a table whose token expires while one is read, and one written.

``PAIMONLAB_TOKEN_SECONDS=20`` gives tokens a longer life.
"""

from __future__ import annotations

import os
import time
import uuid
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from paimonlab.catalog.rest import stores
from paimonlab.catalog.rest.stores import TokenSource, VendedFileIO
from paimonlab.catalog.rest.wire import TokenAnswer
from paimonlab.storage.stores import connecting, object_outputs
from paimonlab.storage.stores.object_outputs import PART_BYTES
from tests.storage.stores import azurite
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy import Fault, Proxy, proxy_of

LIVES_SECONDS = float(os.environ.get("PAIMONLAB_TOKEN_SECONDS", "2"))
LATE_SECONDS = 2.0
"""So long a request may be under way after its token has expired: machines are busy."""
PARTS = 2


class _Client:
    """What a source asks for options."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options


class _Server:
    """Hands out tokens, and refuses requests without one that holds."""

    def __init__(self, proxy: Proxy) -> None:
        self.until: dict[str | None, float] = {}
        self._proxy = proxy

    def token(self, _: TokenSource) -> TokenAnswer:
        name, end = f"token{len(self.until)}", time.time() + LIVES_SECONDS
        self.until[name] = end
        keys = {"s3.access-key": "AKzqhush", "s3.secret-key": "SKzqhush"}
        return TokenAnswer(
            token=keys | {"s3.session-token": name}, expires_at_millis=int(end * 1000)
        )

    def choose(self, method: str, path: str, is_conditional: bool) -> Fault | None:
        del method, path, is_conditional
        until = self.until.get(self._proxy.tokens[-1], 0.0)
        return None if time.time() < until + LATE_SECONDS else "403"


def test_what_is_open_in_azure_goes_on_with_a_new_signature(
    azure_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server takes only the newest signature, of which there is one for each hour."""
    name = f"lake-{uuid.uuid4()}"
    azurite.make_container(azure_server, name)
    hours, given = 0, list[str]()

    def token(_: TokenSource) -> TokenAnswer:
        given.append(azurite.signature(datetime.now(UTC) + timedelta(days=1, hours=hours)))
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
            for _ in range(2):
                writing.write(part)
                hours += 2
        with files.open_input(f"{root}/large") as reading:
            for number in range(2):
                hours += 2
                reading.seek(number * size)
                assert reading.read(size) == part
    assert between.done["403"] == 0
    assert len(given) > 2


def test_what_is_open_goes_on_when_its_token_has_expired(
    proxy: Proxy, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = _Server(proxy)
    monkeypatch.setattr(TokenSource, "token", lambda self: server.token(self))  # noqa: PLW0108
    options = {"s3.endpoint": options_of(proxy.url, bucket)["s3.endpoint"]}
    root = f"s3://{bucket}/t"
    files = VendedFileIO(root, TokenSource(_Client(options), None))  # type: ignore[arg-type]
    proxy.choose = server.choose
    part, wait = os.urandom(PART_BYTES), 1.1 * (LIVES_SECONDS + LATE_SECONDS)
    small, large = f"{root}/small", f"{root}/large"
    files.publish(f"{root}/warm", b"1")

    slow = files.open_output(small)
    slow.write(b"x" * 1000)
    with files.open_output(large) as writing:
        for _ in range(PARTS):
            time.sleep(wait)
            writing.write(part)
    slow.close()
    with files.open_input(large) as reading:
        for number in range(PARTS):
            time.sleep(wait * 0.6)
            reading.seek(number * PART_BYTES)
            assert reading.read(PART_BYTES) == part

    assert files.read(small) == b"x" * 1000
    assert proxy.done["403"] == 0
    assert len(server.until) < len(proxy.tokens) / 2, "no token for each request"
