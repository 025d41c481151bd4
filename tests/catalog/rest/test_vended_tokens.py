"""Tokens of a server for the files of a table; the store behind them is a folder here."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paimonlab.catalog.rest.stores import TokenSource, VendedFileIO, _Token
from paimonlab.catalog.rest.wire import TokenAnswer
from paimonlab.errors import CatalogServerError
from paimonlab.storage import FileIO, LocalFileIO

MINUTE = 60_000


class Clock:
    """A time, and a server that hands out tokens for some minutes."""

    def __init__(self, minutes: int) -> None:
        self.now = 0
        self.minutes = minutes
        self.tokens = 0
        self.opened: list[Mapping[str, str]] = []

    def token(self, _: TokenSource) -> TokenAnswer:
        self.tokens += 1
        token = {"s3.session-token": f"hush{self.tokens}"}
        return TokenAnswer(token=token, expires_at_millis=self.now + self.minutes * MINUTE)

    def open(self, path: str, options: Mapping[str, str], renewal: object) -> FileIO:
        assert callable(renewal)
        self.opened.append(options)
        return LocalFileIO()


class Client:
    """What a source asks for options."""

    options: Mapping[str, str] = {"s3.endpoint": "http://s", "s3.session-token": "of the catalog"}


@pytest.mark.parametrize(("minutes", "renewed_at"), [(300, 240), (40, 30), (120, 90)])
def test_a_token_is_renewed_in_time(
    minutes: int, renewed_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(minutes)
    monkeypatch.setattr("paimonlab.catalog.rest.stores.now_millis", lambda: clock.now)
    monkeypatch.setattr("paimonlab.catalog.rest.stores.opened_store", clock.open)
    monkeypatch.setattr(TokenSource, "token", lambda self: clock.token(self))  # noqa: PLW0108 - it binds
    files = VendedFileIO("s3://b/t", TokenSource(Client(), None))  # type: ignore[arg-type]
    (tmp_path / "a").write_bytes(b"x")

    assert files.read(f"{tmp_path}/a") == b"x"
    clock.now = renewed_at * MINUTE - 1
    assert files.within(str(tmp_path)).exists(f"{tmp_path}/a")
    assert clock.tokens == 1
    clock.now += 1
    assert files.size_bytes(f"{tmp_path}/a") == 1
    assert clock.tokens == 2
    assert clock.opened[1] == {"s3.endpoint": "http://s", "s3.session-token": "hush2"}
    assert "hush" not in repr(files) + repr(clock.token(files.source))


def test_one_thread_asks_for_the_next_token_while_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(40)
    asked, answer = threading.Event(), threading.Event()

    def token(_: TokenSource) -> TokenAnswer:
        if clock.tokens:
            asked.set()
            assert answer.wait(60)
        return clock.token(_)

    monkeypatch.setattr("paimonlab.catalog.rest.stores.now_millis", lambda: clock.now)
    monkeypatch.setattr("paimonlab.catalog.rest.stores.opened_store", clock.open)
    monkeypatch.setattr(TokenSource, "token", token)
    files = VendedFileIO("s3://b/t", TokenSource(Client(), None))  # type: ignore[arg-type]
    first = files._token()
    clock.now = 35 * MINUTE

    with ThreadPoolExecutor(5) as pool:
        asking = pool.submit(files._token)
        assert asked.wait(60)
        assert files._token() is first
        clock.now = 40 * MINUTE  # it has ended: all wait for the next one
        waiting = [pool.submit(files._token) for _ in range(4)]
        answer.set()
        assert {id(one.result(60)) for one in waiting} == {id(asking.result(60))}
    assert asking.result() is not first
    assert clock.tokens == 2


def test_a_token_is_used_to_its_end_while_the_server_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, failed = Clock(40), list[int]()

    def token(_: TokenSource) -> TokenAnswer:
        if clock.now in failing:
            failed.append(clock.now // MINUTE)
            raise CatalogServerError("http://c", "it failed")
        return clock.token(_)

    monkeypatch.setattr("paimonlab.catalog.rest.stores.now_millis", lambda: clock.now)
    monkeypatch.setattr("paimonlab.catalog.rest.stores.opened_store", clock.open)
    monkeypatch.setattr(TokenSource, "token", token)
    files = VendedFileIO("s3://b/t", TokenSource(Client(), None))  # type: ignore[arg-type]
    failing = range(1, 100 * MINUTE)
    first = files._store()
    for minute in (29, 32, 33, 34, 35, 39):
        clock.now = minute * MINUTE
        assert files._store() is first
    assert failed == [32, 34, 39], "not for each request"
    clock.now = 40 * MINUTE
    with pytest.raises(CatalogServerError):
        files._store()
    failing = range(0)
    assert files._store() is not first


def test_a_copy_asks_for_a_token_of_its_own() -> None:
    files = VendedFileIO("s3://b/t", TokenSource(None, None))  # type: ignore[arg-type]
    files._held.token = _Token(LocalFileIO(), dict, 10**15, 10**15)
    copy = pickle.loads(pickle.dumps(files))

    assert copy == files
    assert copy._held.token is None
