"""WebHDFS without HDFS: lost answers, options, and who is let in.

What the store promises runs against a real one: ``pytest tests/storage/stores -k webhdfs``.
"""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

import paimonlab as pl
from paimonlab.errors import StorageError, UnsupportedError
from paimonlab.storage import hdfs
from paimonlab.storage.hdfs import HdfsFileIO, web
from paimonlab.storage.hdfs.options import WebHdfsOptions, webhdfs_options
from tests.certificates import certificates
from tests.ports import HOST, free_port
from tests.storage.stores.scripted_webhdfs import TOKEN, WebHdfs, serving_webhdfs

LOST = ("reset before", "reset after", "503 before", "503 after")


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebHdfs]:
    """A name node in memory."""
    monkeypatch.setattr(web, "_FIRST_PAUSE_SECONDS", 0.001)
    with serving_webhdfs() as service:
        yield service


def opened(service: WebHdfs, **options: str) -> HdfsFileIO:
    root = service.url.replace("http", "webhdfs" if "http:" in service.url else "swebhdf", 1)
    return hdfs.open_warehouse(f"{root}/w", {f"webhdfs.{k}": v for k, v in options.items()})


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_answer_to_publishing_is_found_out(service: WebHdfs, fault: str) -> None:
    store = opened(service)
    assert store.publish(f"{store.root}/warm", b"1")
    service.faults = [("RENAME", fault)]

    assert store.publish(f"{store.root}/snapshot-1", b"1")
    assert not store.publish(f"{store.root}/snapshot-1", b"1"), "equal bytes of another call"

    assert service.files == {"/w/warm": b"1", "/w/snapshot-1": b"1"}
    assert not service.faults


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_answer_never_makes_the_file_of_another_ours(service: WebHdfs, fault: str) -> None:
    store = opened(service)
    assert store.publish(f"{store.root}/snapshot-1", b"1")
    service.faults = [("RENAME", fault)]

    assert not store.publish(f"{store.root}/snapshot-1", b"1")
    service.faults = [("RENAME", fault)]
    with pytest.raises(FileExistsError):
        store.write(f"{store.root}/snapshot-1", b"1")
    assert service.files == {"/w/snapshot-1": b"1"}


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_answer_to_data_leaves_a_whole_file_or_none(service: WebHdfs, fault: str) -> None:
    store = opened(service)
    store.write(f"{store.root}/warm", b"1")
    service.faults = [("DATA", fault)]

    store.write(f"{store.root}/data", b"12345")

    assert service.files == {"/w/warm": b"1", "/w/data": b"12345"}
    service.faults = [("DATA", fault)] * 3
    output = store.open_output(f"{store.root}/long")
    output.write(b"12345")
    if "after" in fault:
        output.close()
        assert store.read(f"{store.root}/long") == b"12345"
    else:
        with pytest.raises(StorageError, match=r"/w/long: writing failed"):
            output.close()
        assert len(service.files) == 2


def test_another_data_node_takes_a_file_where_one_is_not_reached(service: WebHdfs) -> None:
    store = opened(service)
    store.write(f"{store.root}/warm", b"1")
    nowhere = f"http://{HOST}:{free_port()}"
    service.absent = [nowhere, nowhere]

    store.write(f"{store.root}/data", b"12345")

    assert service.files == {"/w/warm": b"1", "/w/data": b"12345"}
    assert service.excluded == [HOST, HOST]
    assert not service.absent
    service.absent = [nowhere] * 100
    with pytest.raises(StorageError, match=r"data node is not reached: .* \(after \d+ attempts\)"):
        store.write(f"{store.root}/more", b"1")
    assert "/w/more" not in service.files


def test_redirects_may_have_names_that_are_not_quoted(service: WebHdfs) -> None:
    service.is_raw = True
    store = opened(service)

    store.write(f"{store.root}/dt=ü 東/data", b"12345")

    assert service.files == {"/w/dt=ü 東/data": b"12345"}
    assert store.read(f"{store.root}/dt=ü 東/data") == b"12345"


def test_a_file_whose_sending_broke_is_not_taken_for_a_whole_one(
    service: WebHdfs, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(service)
    output = store.open_output(f"{store.root}/data")
    output.write(b"123")

    def broken(connection: HTTPConnection, _: bytes) -> None:
        connection.sock.shutdown(socket.SHUT_RDWR)
        raise ConnectionResetError

    with monkeypatch.context() as patched:
        patched.setattr("http.client.HTTPConnection.send", broken)
        with pytest.raises(StorageError, match="writing failed: the connection broke"):
            output.write(b"456")
    with pytest.raises(StorageError, match="before all was sent"):
        output.close()
    assert not service.files.get("/w/data")


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_answer_to_replacing_is_found_out(service: WebHdfs, fault: str) -> None:
    store = opened(service)
    store.replace(f"{store.root}/LATEST", b"1")
    service.faults = [("RENAME", fault)]

    store.replace(f"{store.root}/LATEST", b"2")

    assert service.files == {"/w/LATEST": b"2"}
    assert not service.faults


def test_questions_are_asked_again_and_answers_must_be_whole(service: WebHdfs) -> None:
    store = opened(service)
    store.write(f"{store.root}/a", b"12345")
    service.faults = [("GETFILESTATUS", "503 before"), ("OPEN", "reset before")]
    service.faults += [("BYTES", "reset after"), ("DELETE", "reset after")]
    assert store.read(f"{store.root}/a") == b"12345"
    store.delete(f"{store.root}/a")
    assert not service.faults
    store.write(f"{store.root}/a", b"12345")
    service.faults = [("BYTES", "cut")]
    with pytest.raises(StorageError, match=r"/w/a: 1 of its 5 bytes came"):
        store.read(f"{store.root}/a")
    service.faults = [("GETFILESTATUS", "403 StandbyException")] * 3
    with pytest.raises(StorageError, match=r"StandbyException refused.*after 3 attempts") as raised:
        opened(service, **{"attempts.maximum": "3"}).read(f"{store.root}/a")
    assert "zqhush" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "number"),
    [("AccessControlException", errno.EACCES), ("NSQuotaExceededException", errno.EDQUOT)],
)
def test_a_refused_move_ends_at_once(service: WebHdfs, name: str, number: int) -> None:
    store = opened(service)
    assert store.publish(f"{store.root}/warm", b"1")
    service.faults = [("RENAME", f"403 {name}")]
    with pytest.raises(StorageError, match=f"snapshot-1: .*403 {name}") as raised:
        store.publish(f"{store.root}/snapshot-1", b"1")
    assert raised.value.errno == number
    assert service.files == {"/w/warm": b"1"}


@pytest.mark.parametrize("fault", [*LOST, "403 StandbyException"])
def test_the_first_write_outlives_a_lost_answer_to_what_is_tried_before_it(
    service: WebHdfs, fault: str
) -> None:
    store = opened(service)
    service.faults = [("RENAME", fault)]

    assert store.publish(f"{store.root}/snapshot-1", b"1")

    assert service.files == {"/w/snapshot-1": b"1"}


def test_without_moves_that_replace_nothing_is_written(service: WebHdfs) -> None:
    service.is_httpfs = True
    service.files["/w/a"] = b"1"
    store = opened(service)

    with pytest.raises(UnsupportedError, match="options of RENAME, as HttpFS does not"):
        store.publish(f"{store.root}/b", b"1")

    assert service.files == {"/w/a": b"1"}
    assert store.read(f"{store.root}/a") == b"1"


def test_a_token_lets_in_and_kerberos_is_refused_by_name(
    service: WebHdfs, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.token, service.files["/w/a"] = TOKEN, b"1"
    store = opened(service, **{"delegation-token": TOKEN})
    assert store.read(f"{store.root}/a") == b"1"
    service.faults = [("GETFILESTATUS", "403 InvalidToken")]
    with pytest.raises(StorageError, match="InvalidToken") as raised:
        store.read(f"{store.root}/a")
    assert "delegation=******" in caplog.text, "urllib3 logs addresses"
    assert TOKEN not in f"{raised.value} {store!r} {store.options!r} {caplog.text}"
    with pytest.raises(UnsupportedError, match=r"SPNEGO\) at webhdfs://127.*delegation-token"):
        opened(service).read(f"{store.root}/a")


def test_by_tls_servers_are_verified_and_data_stays_within() -> None:
    made = certificates()
    with serving_webhdfs(made.server, made.key) as service:
        service.files["/w/a"] = b"1"
        store = opened(service, certificates=str(made.authority))
        assert store.publish(f"{store.root}/b", b"2")
        assert store.read(f"{store.root}/b") == b"2"
        service.redirects_to = service.url.replace("https:", "http:")
        with pytest.raises(StorageError, match="from https to http"):
            store.read(f"{store.root}/a")
        with pytest.raises(StorageError, match="from https to http"):
            store.write(f"{store.root}/c", b"1")
        with pytest.raises(StorageError, match="certificate is not trusted"):
            opened(service, certificates=str(made.other)).read(f"{store.root}/a")
    with pytest.raises(ValueError, match=r"webhdfs\.certificates = '/none' cannot be used"):
        opened(service, certificates="/none").read(f"{store.root}/a")


def test_options_are_read_and_others_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "me")
    assert webhdfs_options({}) == WebHdfsOptions(user="me")
    assert webhdfs_options(
        {"webhdfs.user": "you", "webhdfs.attempts.maximum": "3", "webhdfs.connection.timeout": "5"}
    ) == WebHdfsOptions(user="you", attempts=3, timeout_millis=5)
    token = {"webhdfs.delegation-token": "t"}
    assert webhdfs_options(token) == WebHdfsOptions(delegation_token="t")
    for given, told in (
        ({**token, "webhdfs.user": "me"}, "cannot be combined"),
        ({"webhdfs.attempts.maximum": "0"}, "not a whole number from 1 on"),
        ({"s3.endpoint": "x"}, "is an option of S3"),
        ({"hdfs.client": "libhdfs"}, "is an option of HDFS"),
    ):
        with pytest.raises(ValueError, match=told):
            pl.connect({"warehouse": "webhdfs://h:1/w", **given})
    for given, told in (
        ({"security.kerberos.login.principal": "me"}, "SPNEGO"),
        ({"hadoop.a": "b"}, r"hadoop\.a = 'b' with webhdfs:"),
        ({"webhdfs.other": "b"}, r"webhdfs\.other = 'b'"),
    ):
        with pytest.raises(UnsupportedError, match=told):
            pl.connect({"warehouse": "webhdfs://h:1/w", **given})
