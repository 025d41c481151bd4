"""What ``doctor`` advises where a store does not answer as it should."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from time import time

import pytest

import paimonlab as pl
from paimonlab.spark.sessions.environment import try_warehouse
from paimonlab.storage.stores.azure_options import AzureOptions
from paimonlab.storage.stores.diagnosing import advice
from paimonlab.storage.stores.s3_options import S3Options
from tests.listening import listening
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy import Proxy

WAREHOUSE = "s3://lake/w"


@contextmanager
def saying(seconds: float) -> Iterator[str]:
    """Answer each question by the time of a clock that differs by so much."""

    class Handler(BaseHTTPRequestHandler):
        def date_time_string(self, timestamp: float | None = None) -> str:
            return formatdate((timestamp or time()) + seconds, usegmt=True)

        def do_HEAD(self) -> None:
            self.send_response(403)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with listening(Handler) as address:
        yield address


def tried(**options: str) -> tuple[str, str]:
    state = try_warehouse(pl.connect({"s3.attempts.maximum": "1", **options}))
    return state.problem, state.advice


def test_an_endpoint_that_is_not_there_is_named(warehouse: Mapping[str, str]) -> None:
    place = "s3.endpoint"
    problem, told = tried(**{**warehouse, place: "http://127.0.0.1:1"})
    assert "no connection" in problem
    assert told == "nothing answers at 127.0.0.1:1 (Connection refused): check the endpoint"
    _, told = tried(**{**warehouse, place: "http://no-store.invalid:9000"})
    assert told.startswith("no host is called no-store.invalid: correct the endpoint")
    _, told = tried(**{**warehouse, place: warehouse[place].replace("http:", "https:")})
    assert told.endswith("has no TLS: write http:// before the endpoint")
    _, told = tried(
        **{**warehouse, place: "http://no-store.invalid", "s3.path-style-access": "false"}
    )
    assert ".no-store.invalid: set s3.path-style-access = true" in told


def test_options_that_do_not_fit_are_told(warehouse: Mapping[str, str]) -> None:
    problem, told = tried(**{**warehouse, "s3.path-style-access": "false"})
    assert problem.endswith("is an address of numbers: a bucket can only be in the path")
    assert told == "correct the option"


def test_a_name_node_that_is_not_there_is_named() -> None:
    state = try_warehouse(
        pl.connect({"warehouse": "webhdfs://127.0.0.1:1/w", "webhdfs.attempts.maximum": "1"})
    )
    assert state.advice == "nothing answers at 127.0.0.1:1 (Connection refused): check the endpoint"


def test_a_token_of_google_that_ended_is_named(
    gcs_warehouse: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_BEARER_TOKEN", "other")
    state = try_warehouse(pl.connect(gcs_warehouse))
    assert state.advice == "check the service account, or renew the token"


def test_a_bucket_that_is_not_there_is_named(warehouse: Mapping[str, str]) -> None:
    problem, told = tried(**{**warehouse, "warehouse": "s3://none/w"})
    assert "NoSuchBucket" in problem
    assert told == "create none, or correct its name in s3://none/w"


def test_rights_that_lack_are_named(proxy: Proxy, bucket: str) -> None:
    proxy.choose = lambda method, path, _: "403" if method == "PUT" else None
    problem, told = tried(**options_of(proxy.url, bucket))
    assert "403" in problem
    assert told.startswith("let these keys do s3:ListBucket, s3:GetObject, s3:PutObject")


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        ("403 RequestTimeTooSkewed The difference is too large", "clock: signatures have a time"),
        ("400 AuthorizationHeaderMalformed expecting 'eu-west-1'", "region of the bucket (s3.end"),
        ("listing failed: the answer was 301", "region of the bucket"),
        ("403 SignatureDoesNotMatch", "check the access key and its secret"),
        ("400 ExpiredToken The provided token has expired.", "renew the token"),
        ("403 AccessDenied Access Denied", "let these keys do s3:ListBucket"),
        ("507 XMinioStorageFull", ""),
    ],
)
def test_what_a_store_says_is_what_to_change(problem: str, told: str) -> None:
    found = advice(WAREHOUSE, S3Options(), f"s3://lake/w: listing failed: {problem}")
    assert told in found
    assert bool(told) is bool(found)


def test_a_clock_that_differs_is_told_whatever_the_store_calls_it() -> None:
    refused = "403 AccessDenied Access Denied"
    with saying(-3600) as late, saying(1200) as early, saying(10) as right:
        told = advice(WAREHOUSE, S3Options(endpoint=late), refused)
        assert told == "set this machine's clock: it is 60 minutes ahead of the store's"
        told = advice(WAREHOUSE, AzureOptions(endpoint=f"{early}/account"), "AuthenticationFailed")
        assert told == "set this machine's clock: it is 20 minutes behind the store's"
        assert "let these keys do" in advice(WAREHOUSE, S3Options(endpoint=right), refused)
