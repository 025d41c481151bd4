"""Answers are lost on their way: nothing is lost, and nothing happens twice."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog.rest.catalog import RestCatalog
from paimonlab.catalog.rest.retrying import RetryPolicy
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.errors import (
    CatalogServerError,
    CommitError,
    CommitOutcomeUnknownError,
    TableNotFoundError,
)
from tests.catalog.rest.mortal_server import MOMENTS, TOKEN, mortal_server
from tests.catalog.rest.proxy import Fault, Plan, proxy

COMMITS = int(os.environ.get("PAIMONLAB_REST_COMMITS", "15"))
"""By each of two writers."""
LIVES = int(os.environ.get("PAIMONLAB_REST_LIVES", "1"))
"""How often a server is killed at each moment."""
AFTER = (
    Fault.UNAVAILABLE_AFTER,
    Fault.FAILED_AFTER,
    Fault.RESET_AFTER,
    Fault.TWICE,
    Fault.SILENCE_AFTER,
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    served = pl.connect(tmp_path / "warehouse")
    served.create_database("db")
    with Server(served, [User(name="me", token="tok")], ServeOptions()) as running:
        yield running


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimonlab.commit.kept_settlement._PAUSE_SECONDS", 0.001)


def through(server: Server, address: str) -> RestCatalog:
    options = {**server.options, "uri": address, "rest.client.read-timeout": "300ms"}
    catalog = pl.connect(options)
    assert isinstance(catalog, RestCatalog)
    catalog._client.policy = RetryPolicy(first_pause_seconds=0.001)
    return catalog


def once(fault: Fault, method: str, end: str) -> Plan:
    """Lose the answer to one request."""
    left = [fault]

    def plan(asked: str, path: str) -> Fault | None:
        return left.pop() if left and asked == method and path.endswith(end) else None

    return plan


def test_lost_answers_to_commits_lose_and_repeat_nothing(server: Server) -> None:
    seed = int(os.environ.get("PAIMONLAB_SEED") or random.randrange(10**6))
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201 - shown when it fails
    chance = random.Random(seed)
    counts: Counter[Fault] = Counter()
    faults = (*AFTER, Fault.UNAVAILABLE_BEFORE, Fault.TOO_MANY)
    first = chance.sample(faults, len(faults))  # each happens once at least

    def plan(method: str, path: str) -> Fault | None:
        if not path.endswith("/commit") or chance.random() > 0.6:
            return None
        fault = first.pop() if first else chance.choice(faults)
        if fault is Fault.SILENCE_AFTER and counts[fault] >= 2:  # each takes its time-out
            fault = Fault.RESET_AFTER
        counts[fault] += 1
        return fault

    pl.connect(server.options).create_table("db.t", {"writer": "INT", "n": "INT"})
    with proxy(server.address, plan) as address:

        def write(writer: int) -> None:
            table = through(server, address).table("db.t")
            for number in range(COMMITS):
                table.write(pa.table({"writer": [writer], "n": [number]}))

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(write, range(2)))

    table = pl.connect(server.options).table("db.t")
    rows = Counter((row["writer"], row["n"]) for row in table.scan().to_arrow().to_pylist())
    assert rows == Counter((writer, number) for writer in range(2) for number in range(COMMITS))
    latest = table.snapshot
    assert latest is not None
    assert latest.id == 2 * COMMITS
    assert latest.total_record_count == 2 * COMMITS
    assert set(counts) == set(faults)


def test_a_commit_that_never_gets_an_answer_may_be_repeated(server: Server) -> None:
    catalog = pl.connect(server.options)
    catalog.create_table("db.t", {"n": "INT"})
    is_mute = True

    def plan(method: str, path: str) -> Fault | None:
        is_about_commit = path.endswith("/commit") or "/snapshots/" in path
        return Fault.UNAVAILABLE_AFTER if is_mute and is_about_commit else None

    with proxy(server.address, plan) as address:
        table = through(server, address).table("db.t")
        writer = table.new_writer(user="me")
        writer.write(pa.table({"n": [1]}))
        messages = writer.prepare_commit(1)
        with pytest.raises(CommitOutcomeUnknownError, match="whether snapshot 1 was published"):
            table.commit(messages, identifier=1, user="me")
        is_mute = False
        table.commit(messages, identifier=1, user="me")

    assert catalog.table("db.t").scan().to_arrow().to_pylist() == [{"n": 1}]
    assert catalog.table("db.t").snapshots.ids() == [1]


@pytest.mark.parametrize(
    "fault", [Fault.FAILED_AFTER, Fault.RESET_AFTER, Fault.TOO_MANY, Fault.UNAVAILABLE_BEFORE]
)
def test_definitions_change_once_when_answers_are_lost(server: Server, fault: Fault) -> None:
    def plan(method: str, path: str) -> Fault | None:
        if method == "GET":
            return None
        key = (method, path)
        seen[key] += 1
        return fault if seen[key] == 1 else None

    seen: Counter[tuple[str, str]] = Counter()
    with proxy(server.address, plan) as address:
        catalog = through(server, address)
        catalog.create_database("other")
        catalog.create_table("db.t", {"id": "INT", "v": "STRING"}, comment="c")
        altered = catalog.alter_table(
            "db.t", pl.AddColumn("w", "INT", first=True), pl.RenameColumn("v", "u")
        )
        catalog.rename_table("db.t", "other.t")
        table = catalog.table("other.t")
        table.write(pa.table({"id": [1], "u": ["x"], "w": [2]}))
        table.tags.create("one")
        table.branches.create("b", tag="one")
        table.branches.rename("b", "c")
        found = table.branches.list()
        table.branches.delete("c")
        table.maintenance.rollback_to(snapshot=1)
        catalog.drop_table("other.t")
        catalog.drop_database("other")

    assert altered.schema.field_names == ("w", "id", "u")
    assert altered.schema.id == 1
    assert found == ["c"]
    assert pl.connect(server.options).databases() == ["db"]
    assert len(seen) >= 8


def test_a_server_that_is_killed_within_commits_loses_and_repeats_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = int(os.environ.get("PAIMONLAB_SEED") or random.randrange(10**6))
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201 - shown when it fails
    chance = random.Random(seed)
    monkeypatch.setattr("paimonlab.commit.kept_settlement._PAUSE_SECONDS", 0.02)
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    catalog.create_table("db.t", {"writer": "INT", "n": "INT"})
    ends = [f"{moment}:{chance.randint(1, 3)}" for _ in range(LIVES) for moment in MOMENTS]
    chance.shuffle(ends)
    commits = 5 * LIVES + 1

    with mortal_server(tmp_path / "warehouse", ends, tmp_path / "log") as address:
        options = {"metastore": "rest", "uri": address, "token.provider": "bear", "token": TOKEN}

        def write(writer: int) -> None:
            client = pl.connect(options)
            assert isinstance(client, RestCatalog)
            client._client.policy = RetryPolicy(attempts_to_connect=40, first_pause_seconds=0.02)
            table = client.table("db.t")
            for number in range(commits):
                table.write(pa.table({"writer": [writer], "n": [number]}))

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(write, range(2)))

    told = (tmp_path / "log").read_text()
    assert told.splitlines() == [address] * len(ends), "one line for each further life"
    table = catalog.table("db.t")
    rows = Counter((row["writer"], row["n"]) for row in table.scan().to_arrow().to_pylist())
    assert rows == Counter((writer, number) for writer in range(2) for number in range(commits))
    assert table.snapshots.ids() == list(range(1, 2 * commits + 1))


def test_what_others_created_is_not_taken_for_ours(server: Server) -> None:
    pl.connect(server.options).create_table("db.t", {"id": "INT"})
    with proxy(server.address, once(Fault.UNAVAILABLE_BEFORE, "POST", "/tables")) as address:
        catalog = through(server, address)
        with pytest.raises(pl.errors.AlreadyExistsError, match=r"table db\.t already exists"):
            catalog.create_table("db.t", {"id": "INT", "other": "STRING"})


def test_a_table_created_anew_is_not_committed_to(server: Server) -> None:
    catalog = pl.connect(server.options)
    table = catalog.create_table("db.t", {"n": "INT"})
    writer = table.new_writer()
    writer.write(pa.table({"n": [1]}))
    messages = writer.prepare_commit(1)
    catalog.drop_table("db.t")
    anew = catalog.create_table("db.t", {"n": "INT", "m": "INT"})

    with pytest.raises((CommitError, TableNotFoundError)):
        table.commit(messages, identifier=1, user="me")

    assert anew.snapshot is None


def test_a_server_that_is_down_is_named(server: Server) -> None:
    catalog = pl.connect(server.options)
    table = catalog.create_table("db.t", {"n": "INT"})
    server.stop()

    with pytest.raises(CatalogServerError, match=f"{server.address}: GET /v1/"):
        catalog.tables("db")
    with pytest.raises((CommitError, CatalogServerError)):
        table.write(pa.table({"n": [1]}))
