"""What a client sends, sends again, and makes of answers that are written down."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.catalog.rest.catalog import RestCatalog
from paimonlab.catalog.rest.client import DoubtError, RestClient
from paimonlab.catalog.rest.credentials import DlfKeys, KeyFile, MachineRole, key_from_json
from paimonlab.catalog.rest.retrying import RetryPolicy
from paimonlab.catalog.rest.signing import AccessKey, SignedRequest
from paimonlab.catalog.rest.wire import CreateDatabase, DatabasesPage, Document
from paimonlab.errors import (
    AccessDeniedError,
    CatalogServerError,
    TableNotFoundError,
    UnsupportedError,
)

Answer = tuple[int, Any] | tuple[int, Any, dict[str, str]]
CONFIG: Answer = (200, {"defaults": {"prefix": "p"}, "overrides": {}})


class Script:
    """A server that gives answers in turn, and remembers what it was asked."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        left = list(answers)
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                script.asked.append((self.command, self.path, dict(self.headers.items())))
                status, body, *headers = left.pop(0)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in (headers[0] if headers else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - called by these names

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def scripts() -> Iterator[list[Script]]:
    made: list[Script] = []
    yield made
    for one in made:
        one.close()


def client_of(
    scripts: list[Script], *answers: Answer, **options: str
) -> tuple[RestClient, Script, list[float]]:
    script = Script(answers)
    scripts.append(script)
    given = {"uri": script.address, "warehouse": "my lake", "token.provider": "bear"}
    client = RestClient({**given, "token": "hush", **options})
    pauses: list[float] = []
    client.policy, client.sleep = RetryPolicy(), pauses.append
    return client, script, pauses


def test_configuration_headers_and_prefix_are_obeyed(scripts: list[Script]) -> None:
    config = {
        "defaults": {"prefix": "a b", "header.X-Mine": "theirs", "unset": None},
        "overrides": {"header.X-Theirs": "2"},
        "unknown": [1],
    }
    client, script, _ = client_of(
        scripts,
        (200, config),
        (200, {"databases": ["x"], "more": 1}),
        **{"header.X-Mine": "1"},
    )
    assert list(client.pages(DatabasesPage, "databases")) == ["x"]
    (_, first, _), (_, second, headers) = script.asked
    assert first == "/v1/config?warehouse=my+lake"
    assert second == "/v1/a+b/databases"
    assert (headers["X-Mine"], headers["X-Theirs"]) == ("1", "2")
    assert headers["Authorization"] == "Bearer hush"
    assert "unset" not in client.options


def test_pages_end_at_a_null_token_or_an_empty_page(scripts: list[Script]) -> None:
    client, script, _ = client_of(
        scripts,
        CONFIG,
        (200, {"databases": ["a"], "nextPageToken": "a b"}),
        (200, {"databases": ["b"], "nextPageToken": "b"}),
        (200, {"databases": [], "nextPageToken": "c"}),
    )
    assert list(client.pages(DatabasesPage, "databases")) == ["a", "b"]
    assert [path for _, path, _ in script.asked[2:]] == [
        "/v1/p/databases?pageToken=a+b",
        "/v1/p/databases?pageToken=b",
    ]


def test_the_same_page_again_and_again_is_an_error(scripts: list[Script]) -> None:
    page: Answer = (200, {"databases": ["a"], "nextPageToken": "a"})
    client, _, _ = client_of(scripts, CONFIG, page, page)
    with pytest.raises(CatalogServerError, match="sends the same page again"):
        list(client.pages(DatabasesPage, "databases"))


def test_questions_are_asked_again_as_the_server_wishes(scripts: list[Script]) -> None:
    client, script, pauses = client_of(
        scripts,
        CONFIG,
        (503, b"", {"Retry-After": "7"}),
        (429, {"message": "slower", "code": 429}),
        (502, b"<html>bad gateway</html>"),
        (200, {"databases": ["a"]}),
    )
    assert list(client.pages(DatabasesPage, "databases")) == ["a"]
    assert len(script.asked) == 5
    assert 7 <= pauses[0] <= 7.7
    assert 0.25 <= pauses[1] <= 0.5
    assert 0.5 <= pauses[2] <= 1.0


def test_a_question_that_is_never_answered_fails_with_all_there_is_to_know(
    scripts: list[Script],
) -> None:
    busy: Answer = (503, {"message": "busy", "code": 503}, {"X-Request-Id": "r-1"})
    client, script, _ = client_of(scripts, CONFIG, *[busy] * 6)
    with pytest.raises(CatalogServerError) as raised:
        list(client.pages(DatabasesPage, "databases"))
    assert str(raised.value) == (
        f"{script.address}: GET /v1/p/databases: 503: busy (request r-1) (after 6 attempts)"
    )
    assert isinstance(raised.value, OSError)


def test_changes_in_doubt_are_not_repeated(scripts: list[Script]) -> None:
    for status in (500, 502, 503, 504):
        client, script, _ = client_of(scripts, CONFIG, (status, b""))
        with pytest.raises(DoubtError):
            client.once(Document, "POST", CreateDatabase(name="a"), "databases")
        assert len(script.asked) == 2
    client, script, _ = client_of(scripts, CONFIG, (429, b""), (200, b""))
    client.once(Document, "POST", CreateDatabase(name="a"), "databases")
    assert len(script.asked) == 3


def test_a_change_that_stays_in_doubt_is_given_up_after_six_attempts(
    scripts: list[Script],
) -> None:
    client, script, pauses = client_of(scripts, CONFIG, *[(500, b"")] * 6)
    looks: list[int] = []

    def is_done() -> bool:
        looks.append(len(script.asked))
        return False

    with pytest.raises(CatalogServerError, match="It may have happened: look before you do it"):
        client.change("POST", CreateDatabase(name="a"), "databases", is_done=is_done)
    assert looks == [2, 3, 4, 5, 6, 7]
    assert [0.5 <= pause / 0.25 / 2**turn <= 1 for turn, pause in enumerate(pauses)] == [True] * 6


def test_a_change_that_was_done_after_all_is_done(scripts: list[Script]) -> None:
    taken: Answer = (409, {"message": "it exists", "code": 409, "resourceType": "DATABASE"})
    client, script, _ = client_of(scripts, CONFIG, (503, b""), taken)
    answers = [False, True]
    client.change("POST", CreateDatabase(name="a"), "databases", is_done=lambda: answers.pop(0))
    assert len(script.asked) == 3


def test_a_server_that_is_not_there_is_looked_for_three_times() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    client = RestClient({"uri": address, "token.provider": "bear", "token": "hush"})
    pauses: list[float] = []
    client.sleep = pauses.append
    with pytest.raises(CatalogServerError, match=r"refused.*\(after 3 attempts\)"):
        assert client.options
    assert len(pauses) == 2


def test_a_server_without_tls_is_asked_once_and_told(scripts: list[Script]) -> None:
    plain = Script([CONFIG])
    scripts.append(plain)
    address = _options(plain)["uri"].replace("http://", "https://")
    client = RestClient({**_options(plain), "uri": address})
    client.sleep = lambda seconds: pytest.fail(f"slept {seconds} s")
    with pytest.raises(CatalogServerError, match=r"does not speak TLS: http://, not https://\?$"):
        assert client.options


def test_no_attempt_begins_after_five_minutes(scripts: list[Script]) -> None:
    slow: Answer = (503, b"", {"Retry-After": "3600"})
    client, script, pauses = client_of(scripts, CONFIG, *[slow] * 6)
    client.clock = lambda: sum(pauses)
    with pytest.raises(CatalogServerError, match=r"503.*\(after 5 attempts\)"):
        list(client.pages(DatabasesPage, "databases"))
    assert all(64 <= pause <= 71 for pause in pauses)
    assert len(script.asked) == 1 + 5


def test_the_code_in_the_body_beats_the_status(scripts: list[Script]) -> None:
    script = Script([CONFIG, (404, {"message": "external", "code": 501, "resourceType": "TABLE"})])
    scripts.append(script)
    catalog = pl.connect(_options(script))
    with pytest.raises(UnsupportedError, match="external"):
        catalog.table("db.t")


def test_missing_things_are_named_by_what_the_server_says(scripts: list[Script]) -> None:
    missing: Answer = (404, {"message": "no", "code": 404, "resourceType": "TABLE"})
    there: Answer = (200, {"name": "db"})
    formats: Answer = (200, {"tables": []})
    script = Script([CONFIG, missing, there, (200, {"tables": ["tt"]}), formats])
    scripts.append(script)
    with pytest.raises(TableNotFoundError, match=r"db\.t not found\. Did you mean 'db\.tt'"):
        pl.connect(_options(script)).table("db.t")


def test_an_address_of_something_else_is_told(scripts: list[Script]) -> None:
    client, _, _ = client_of(scripts, (200, b"<html>welcome</html>"))
    with pytest.raises(CatalogServerError, match="does not follow Paimon's protocol, look at"):
        assert client.options


def test_clocks_that_are_far_apart_are_told_after_a_401(scripts: list[Script]) -> None:
    client, _, _ = client_of(scripts, (401, b"", {"Date": "Thu, 01 Jan 2026 00:00:00 GMT"}))
    with pytest.raises(AccessDeniedError, match=r"clock of this machine is \d+ minutes ahead"):
        assert client.options


def test_secrets_in_answers_are_hidden(scripts: list[Script]) -> None:
    message = "cannot: fs.oss.accessKeySecret=zqhush and Authorization: Bearer zqhush12"
    client, _, _ = client_of(scripts, (403, {"message": message, "code": 403}))
    with pytest.raises(AccessDeniedError) as raised:
        assert client.options
    assert "zqhush" not in str(raised.value) + repr(raised.value)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "'uri' is missing"),
        ({"uri": "http://me:hush@host"}, "not the address of a server"),
        ({"uri": "h"}, "'token.provider' is missing"),
        ({"uri": "h", "token.provider": "bear"}, "needs the catalog option 'token'"),
        ({"uri": "h", "token.provider": "dlf", "dlf.region": "r"}, "'dlf.access-key-id'"),
        (
            {
                "uri": "h",
                "token.provider": "dlf",
                "dlf.access-key-id": "a",
                "dlf.access-key-secret": "hush",
            },
            r"'dlf\.region' is missing",
        ),
        ({"uri": "h", "token.provider": "bear", "tokn": "hush"}, "unknown catalog option 'tokn'"),
    ],
)
def test_options_that_do_not_suffice_are_named(options: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as raised:
        pl.connect({"metastore": "rest", "warehouse": "w", **options})
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("token.provider", "kerberos"),
        ("dlf.token-loader", "mine"),
        ("dlf.signing-algorithm", "sha3"),
    ],
)
def test_ways_to_authorise_that_are_not_there_are_refused(key: str, value: str) -> None:
    options = {"token.provider": "dlf", "dlf.region": "cn-hangzhou", key: value}
    with pytest.raises(UnsupportedError, match=f"{key} = '{value}'"):
        pl.connect({"metastore": "rest", "warehouse": "w", "uri": "h", **options})


def test_keys_are_loaded_again_before_they_expire(tmp_path: Path) -> None:
    path = tmp_path / "token"
    now = datetime(2026, 1, 1, tzinfo=UTC)
    times = [now]

    def write(key: str, expires: datetime) -> None:
        document = {
            "AccessKeyId": key,
            "AccessKeySecret": "hush",
            "SecurityToken": "t",
            "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        path.write_text(json.dumps(document))

    keys = DlfKeys(
        KeyFile(str(path)),
        region="cn-hangzhou",
        host="h",
        algorithm="default",
        now=lambda: times[-1],
    )
    request = SignedRequest("GET", "/v1/config")
    write("one", now + timedelta(hours=2))
    assert "Credential=one/" in keys.headers(request)["Authorization"]
    write("two", now + timedelta(hours=5))
    times.append(now + timedelta(minutes=59))
    assert "Credential=one/" in keys.headers(request)["Authorization"]
    times.append(now + timedelta(minutes=61))
    assert "Credential=two/" in keys.headers(request)["Authorization"]


def test_a_file_of_keys_is_read_again_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text('{"AccessKeyId": "a", "Access')
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            path.write_text('{"AccessKeyId": "a", "AccessKeySecret": "hush"}')

    assert KeyFile(str(path), sleep).load() == AccessKey("a", "hush")
    assert pauses == [1.0, 2.0]
    path.write_text("{hush")
    with pytest.raises(AccessDeniedError, match=r"dlf\.token-path: there are no keys") as raised:
        KeyFile(str(path), lambda _: None).load()
    assert "hush" not in str(raised.value)
    with pytest.raises(AccessDeniedError, match="No such file"):
        KeyFile(str(tmp_path / "none"), lambda _: None).load()


def test_a_machine_gets_the_keys_of_its_role() -> None:
    there = {
        "http://m/": b"role-1\n",
        "http://m/role-1": b'{"AccessKeyId": "a", "AccessKeySecret": "b"}',
    }
    assert MachineRole("http://m/", None, there.__getitem__).load() == AccessKey("a", "b")
    assert MachineRole("http://m/", "role-1", there.__getitem__).load() == AccessKey("a", "b")
    with pytest.raises(ValueError, match="not the keys"):
        key_from_json(b'{"AccessKeyId": "a"}')


def test_files_in_stores_without_support_are_refused_by_name(scripts: list[Script]) -> None:
    schema = {"fields": [{"id": 0, "name": "n", "type": "INT"}], "options": {}}

    def table(path: str) -> Answer:
        answer = {"id": "x", "name": "t", "path": path, "schemaId": 0, "schema": schema}
        return 200, {**answer, "isExternal": False}

    script = Script([CONFIG, table("dls://b/t"), table("ftp://n/t")])
    scripts.append(script)
    catalog = pl.connect(_options(script))
    for path in ("dls://b/t", "ftp://n/t"):
        with pytest.raises(UnsupportedError, match=path):
            catalog.table("db.t")
    for path in ("dls://b/t", "hdfs://n/t"):
        script = Script([(200, {"defaults": {"data-token.enabled": "true"}}), table(path)])
        scripts.append(script)
        with pytest.raises(UnsupportedError, match=r"data-token\.enabled = 'true'"):
            pl.connect(_options(script)).table("db.t")


def test_nothing_is_asked_before_it_is_needed(scripts: list[Script]) -> None:
    script = Script([CONFIG, (200, {"databases": []})])
    scripts.append(script)
    catalog = pl.connect(_options(script))
    assert isinstance(catalog, RestCatalog)
    assert script.asked == []
    assert catalog.databases() == []
    assert len(script.asked) == 2


def _options(script: Script) -> dict[str, str]:
    return {
        "metastore": "rest",
        "uri": script.address,
        "warehouse": "w",
        "token.provider": "bear",
        "token": "hush",
    }
