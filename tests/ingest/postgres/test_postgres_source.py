"""The source against a real server: its promises, its position, and what it refuses."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest.changes import Boundary, Event, RowChanges, Waits
from paimonlab.ingest.source_contract import check_source
from paimonlab.ingest.sources.postgresql import connections, reading
from paimonlab.ingest.sources.postgresql.catalog import ServerTable
from paimonlab.ingest.sources.postgresql.connections import Connection, ServerError
from paimonlab.ingest.sources.postgresql.copying import Copy
from paimonlab.ingest.sources.postgresql.source import Postgres, postgres
from paimonlab.spec.types.text import format_type
from tests.ingest.postgres.reading import Reader, rows_of
from tests.ingest.postgres.server import Database
from tests.waiting import until


def test_it_keeps_what_sources_promise(database: Database) -> None:
    database.run(
        "CREATE TABLE a (id int PRIMARY KEY, v text)",
        "CREATE TABLE b (id int PRIMARY KEY)",
        "INSERT INTO a VALUES (1, 'x'), (2, NULL)",
        "INSERT INTO b VALUES (1)",
    )
    check_source(
        lambda: database.source().tables("a", "b"),
        add=lambda: database.run("INSERT INTO a VALUES (3, 'y')"),
    )


def test_tables_have_the_columns_of_their_rows(database: Database) -> None:
    database.run(
        "CREATE TYPE mood AS ENUM ('a', 'b')",
        "CREATE DOMAIN price AS numeric(8, 2)",
        "CREATE TABLE t (id int PRIMARY KEY, tags text[], m mood, p price, u uuid[])",
        "INSERT INTO t VALUES (1, '{x,NULL}', 'a', 1.5, NULL)",
    )
    source = database.source().tables("t")
    found = source.tables()["public.t"]
    with Reader(source) as reader:
        (rows,) = [one for one in reader.caught_up() if isinstance(one, RowChanges)]
    assert rows.schema.columns == found.columns
    assert format_type(found.columns[1].type) == "ARRAY<STRING>"


def test_changes_have_their_kinds(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY, v text)", "INSERT INTO t VALUES (1, 'a')")
    with Reader(database.source().tables("t")) as reader:
        assert rows_of(reader.caught_up()) == [("+I", {"id": 1, "v": "a"})]
        database.run(
            "UPDATE t SET v = 'b'",
            "UPDATE t SET id = 2",
            "DELETE FROM t",
            "ALTER TABLE t REPLICA IDENTITY FULL",
            "INSERT INTO t VALUES (3, NULL)",
            "UPDATE t SET id = 4",
            "DELETE FROM t",
        )
        assert reader.rows(8) == [
            ("+U", {"id": 1, "v": "b"}),
            ("-D", {"id": 1, "v": None}),
            ("+I", {"id": 2, "v": "b"}),
            ("-D", {"id": 2, "v": None}),
            ("+I", {"id": 3, "v": None}),
            ("-U", {"id": 3, "v": None}),
            ("+U", {"id": 4, "v": None}),
            ("-D", {"id": 4, "v": None}),
        ]


def test_an_index_may_name_rows(database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, code text NOT NULL UNIQUE, v text)",
        "ALTER TABLE t REPLICA IDENTITY USING INDEX t_code_key",
        "INSERT INTO t VALUES (1, 'c', 'a')",
    )
    source = database.source().tables("t")
    assert source.tables()["public.t"].primary_keys == ("code",)
    with Reader(source) as reader:
        reader.caught_up()
        database.run("UPDATE t SET id = 2", "DELETE FROM t")
        assert reader.rows(2) == [
            ("+U", {"id": 2, "code": "c", "v": "a"}),
            ("-D", {"id": None, "code": "c", "v": None}),
        ]


def test_rows_know_their_transaction(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    with Reader(database.source().tables("t")) as reader:
        (copied,) = reader.caught_up()
        database.run("INSERT INTO t VALUES (2)")
        (streamed,) = reader.until(bool)
    assert isinstance(copied, RowChanges)
    assert isinstance(streamed, RowChanges)
    assert copied.metadata.keys() == {"database_name", "schema_name"}
    assert streamed.metadata["schema_name"].to_pylist() == ["public"]
    assert streamed.metadata["database_name"].to_pylist() == [database.name]
    (now,) = streamed.metadata["op_ts"].to_pylist()
    assert abs(now.timestamp() - time.time()) < 60
    assert streamed.positions is not None
    ((lsn,),) = database.run(
        f"SELECT '{streamed.positions[0].as_py()}'::pg_lsn < pg_current_wal_lsn()"
    )
    assert lsn


def _confirmed(database: Database) -> str:
    ((found,),) = database.run(
        "SELECT confirmed_flush_lsn::text FROM pg_replication_slots "
        f"WHERE slot_name = '{database.name}'"
    )
    return str(found)


def test_the_server_forgets_only_what_is_acknowledged(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    source = database.source().tables("t")
    with Reader(source) as reader:
        reader.caught_up()
        first = _confirmed(database)
        database.run("INSERT INTO t VALUES (1)")
        reader.rows(1)
        reader.caught_up()
        assert _confirmed(database) == first
        source.acknowledge(reader.position)
        assert isinstance(reader.position, dict)
        wanted = reader.position["lsn"]
        until(lambda: _confirmed(database) == wanted)
        database.run("INSERT INTO t VALUES (2)")
        reader.rows(1)
        position = reader.position
    source.acknowledge(position)
    assert isinstance(position, dict)
    assert _confirmed(database) == position["lsn"]


def test_a_connection_that_breaks_within_a_transaction_loses_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_OPEN_BYTES", 150_000)
    monkeypatch.setattr(connections, "_FEW_BYTES", 60_000)
    monkeypatch.setattr(connections, "_BATCH_BYTES", 60_000)
    database.run("CREATE TABLE t (id int PRIMARY KEY, v text)")
    terminate = f"""
        SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots
        WHERE slot_name = '{database.name}' AND active"""
    rows: list[int] = []
    breaks = 0
    source = database.source().tables("t")
    with Reader(source) as reader:
        reader.caught_up()
        database.run(
            "BEGIN; INSERT INTO t SELECT id, repeat('x', 999) FROM generate_series(1, 12000) s(id)"
            "; UPDATE t SET v = 'y' WHERE id > 11990; COMMIT"
        )
        for event in reader.events:
            if isinstance(event, RowChanges):
                rows += event.rows["id"].to_pylist()
                if breaks < 2 and len(rows) > 2_500 * (breaks + 1):
                    breaks += len(database.run(terminate))
            elif isinstance(event, Boundary) and len(rows) >= 12010:
                break
            else:
                assert not rows, "no boundary within a transaction"
        database.run("INSERT INTO t VALUES (0)")
        assert reader.rows(1) == [("+I", {"id": 0, "v": None})]
    assert breaks == 2
    assert rows == [*range(1, 12001), *range(11991, 12001)]


def test_a_copy_that_was_ended_goes_on_with_the_next_table(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_BOUNDARY_BYTES", 1)
    database.run(
        *(f"CREATE TABLE t{number} (id int PRIMARY KEY)" for number in range(3)),
        *(f"INSERT INTO t{number} VALUES ({number})" for number in range(3)),
    )
    source = database.source().tables(r"public\.t\d")
    events = source.read(None, lambda _: True)
    for event in events:
        if isinstance(event, Boundary) and event.position is not None:
            break
    events.close()  # type: ignore[attr-defined]
    assert isinstance(event, Boundary)
    database.run("UPDATE t0 SET id = 10", "UPDATE t1 SET id = 11", "UPDATE t2 SET id = 12")
    with Reader(database.source().tables(r"public\.t\d"), event.position) as again:
        rows = rows_of(again.caught_up())
        assert sorted(rows, key=str) == sorted(
            [("+I", {"id": 11}), ("+I", {"id": 12}), ("-D", {"id": 0}), ("+I", {"id": 10})],
            key=str,
        )
        database.run("UPDATE t1 SET id = 21")
        assert again.rows(2) == [("-D", {"id": 11}), ("+I", {"id": 21})]


def test_tables_that_change_before_they_are_copied_are_copied_later(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.run(
        "CREATE TABLE rewritten (id int PRIMARY KEY, v int)",
        "CREATE TABLE emptied (id int PRIMARY KEY)",
        "CREATE TABLE swapped (id int PRIMARY KEY, a text, b text)",
        "INSERT INTO rewritten VALUES (1, 1)",
        "INSERT INTO emptied VALUES (1)",
        "INSERT INTO swapped VALUES (1, 'a', 'b')",
    )
    begin, began = Copy.begin, list[int]()

    def later(
        copy: Copy, oids: Sequence[int], other: Connection
    ) -> Generator[None, None, list[ServerTable]]:
        if not began:
            database.run(
                "ALTER TABLE rewritten ALTER v TYPE text",
                "TRUNCATE emptied",
                "INSERT INTO emptied VALUES (2)",
                "ALTER TABLE swapped RENAME a TO c",
                "ALTER TABLE swapped RENAME b TO a",
                "ALTER TABLE swapped RENAME c TO b",
            )
        began.append(len(oids))
        return begin(copy, oids, other)

    monkeypatch.setattr(Copy, "begin", later)
    with Reader(database.source().tables("rewritten", "emptied", "swapped")) as reader:
        rows = rows_of(reader.caught_up())
        database.run("UPDATE rewritten SET v = 'x'", "INSERT INTO emptied VALUES (3)")
        streamed = reader.rows(2)
    assert began == [3, 3]
    assert [row for _, row in rows] == [
        {"id": 2},
        {"id": 1, "v": "1"},
        {"id": 1, "b": "a", "a": "b"},
    ]
    assert sorted(streamed, key=str) == [("+I", {"id": 3}), ("+U", {"id": 1, "v": "x"})]


def test_a_publication_may_leave_out_rows_and_columns(database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, secret text, v int)",
        "INSERT INTO t VALUES (1, 's', 1), (2, 's', 2)",
        "CREATE PUBLICATION part FOR TABLE t (id, v) WHERE (id > 1)",
    )
    source = database.source(publication="part").tables("t")
    assert source.tables()["public.t"].names == ("id", "v")
    with Reader(source) as reader:
        assert rows_of(reader.caught_up()) == [("+I", {"id": 2, "v": 2})]
        database.run("INSERT INTO t VALUES (0, 's', 0), (3, 's', 3)")
        assert reader.rows(1) == [("+I", {"id": 3, "v": 3})]


def test_what_is_missing_is_said_with_the_way_out(database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY)",
        "DROP ROLE IF EXISTS nobody_here",
    )
    with pytest.raises(SourceError, match=r"no table public\.missing"):
        database.source().tables("missing").tables()
    with pytest.raises(SourceError, match="password authentication failed"):
        database.source(user="nobody_here").tables("t").tables()


def test_a_login_is_refused_by_its_code_in_any_language(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if none of the server's words were known."""
    monkeypatch.setattr(connections, "_REFUSALS", ())
    role = f"reader_{database.name}"
    database.run(f"CREATE ROLE {role} LOGIN PASSWORD 'another'")

    def state(source: Postgres, *, replication: bool = False) -> str | None:
        with pytest.raises(ServerError) as caught:
            Connection(source.login, "postgres", replication=replication)
        return caught.value.state

    try:
        assert state(database.source(user=role)) == "28P01"
        database.run(f"ALTER ROLE {role} PASSWORD 'zqsea'")
        assert state(database.source(user=role), replication=True) == "42501"
        database.run(f"ALTER ROLE {role} NOLOGIN")
        assert state(database.source(user=role)) == "28000"
    finally:
        database.run(f"DROP ROLE {role}")
    missing = replace(database.source(), login=replace(database.source().login, dbname="gone"))
    assert state(missing) == "3D000"
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    assert state(database.source(port=port)) is None, "a server that is gone may come back"


@pytest.mark.parametrize(
    ("code", "waits"), [("28P01", False), ("28000", False), ("57P03", True), ("53300", True)]
)
def test_a_code_is_found_among_words_of_another_language(
    monkeypatch: pytest.MonkeyPatch, code: str, *, waits: bool
) -> None:
    """Of a server that says FATAL as one of China does, with quotes in its words."""
    fields = {"S": "致命错误", "V": "FATAL", "C": code, "M": '用户 "cdc" C "57P03"'}
    body = b"".join(f"{kind}{text}".encode() + b"\0" for kind, text in fields.items()) + b"\0"
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for _ in range(2):
                client, _ = listener.accept()
                with client:
                    if client.recv(4096)[4:8] == b"\x04\xd2\x16\x2f":  # it asks for TLS
                        client.sendall(b"N")
                        client.recv(4096)
                    client.sendall(b"E" + (4 + len(body)).to_bytes(4, "big") + body)

        threading.Thread(target=answer, daemon=True).start()
        login = postgres(
            port=listener.getsockname()[1],
            dbname="d",
            user="cdc",
            slot="s",
            options={"gssencmode": "disable"},
        ).login
        with pytest.raises(ServerError, match="用户") as caught:
            Connection(login, "postgres")

    assert caught.value.state == (None if waits else code)


def test_rights_that_are_missing_are_named(database: Database) -> None:
    role = f"reader_{database.name}"
    database.run(
        f"CREATE ROLE {role} LOGIN PASSWORD 'zqsea'",
        "CREATE TABLE t (id int PRIMARY KEY)",
        "INSERT INTO t VALUES (1)",
    )
    try:
        source = database.source(user=role).tables("t")
        with pytest.raises(SourceError, match=f'ALTER ROLE "{role}" REPLICATION'):
            source.tables()
        database.run(f"ALTER ROLE {role} REPLICATION")
        assert list(source.tables()) == ["public.t"]
        sql = f'CREATE PUBLICATION "{database.name}" FOR TABLE "public"."t"'
        with pytest.raises(SourceError, match=sql):
            next(source.read(None, lambda _: True))
        database.run(sql)
        with pytest.raises(SourceError, match=r'GRANT SELECT ON "public"\."t"'):
            next(source.read(None, lambda _: True))
        database.run(f"GRANT SELECT ON t TO {role}")
        with Reader(source) as reader:
            assert rows_of(reader.caught_up()) == [("+I", {"id": 1})]
    finally:
        database.run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


@pytest.mark.parametrize(
    ("taken", "told"),
    [("NOREPLICATION", r'run ALTER ROLE "{}" REPLICATION'), ("NOLOGIN", "not permitted to log in")],
)
def test_rights_that_are_taken_away_end_a_reading_at_once(
    database: Database, taken: str, told: str
) -> None:
    """Once its connection is lost; nothing is waited for that does not come."""
    role, slot = f"reader_{database.name}", database.name
    database.run(
        f"CREATE ROLE {role} LOGIN REPLICATION PASSWORD 'zqsea'",
        "CREATE TABLE t (id int PRIMARY KEY)",
        f"GRANT SELECT ON t TO {role}",
        f'CREATE PUBLICATION "{slot}" FOR TABLE t',
    )
    found: list[Event] = []
    try:
        with Reader(database.source(user=role).tables("t")) as reader:
            reader.caught_up()
            database.run(
                f"ALTER ROLE {role} {taken}",
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots "
                f"WHERE slot_name = '{slot}'",
            )
            with pytest.raises(SourceError, match=told.format(role)):
                found.extend(reader.events)
    finally:
        database.run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")
    assert not any(isinstance(event, Waits) for event in found)


def test_slots_that_cannot_be_read_are_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_ACTIVE_SECONDS", 0.3)
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    database.run(f"SELECT pg_create_logical_replication_slot('{database.name}_x', 'test_decoding')")
    other = database.source(f"{database.name}_x").tables("t")
    with pytest.raises(SourceError, match="is of test_decoding, not of pgoutput"):
        other.tables()

    with Reader(database.source().tables("t")) as reader:
        reader.caught_up()
        position = reader.position
        with (
            pytest.raises(SourceError, match="read by another process"),
            Reader(database.source().tables("t"), position) as second,
        ):
            second.caught_up()

    drop = f"SELECT pg_drop_replication_slot('{database.name}')"
    until(lambda: database.run("SELECT bool_or(active) FROM pg_replication_slots") == [(False,)])
    database.run(drop)
    with (
        pytest.raises(SourceError, match="does not exist any more"),
        Reader(database.source().tables("t"), position) as again,
    ):
        again.caught_up()
    database.run(
        "INSERT INTO t VALUES (1)",
        f"SELECT pg_create_logical_replication_slot('{database.name}', 'pgoutput')",
    )
    with (
        pytest.raises(SourceError, match="dropped and created again"),
        Reader(database.source().tables("t"), position) as again,
    ):
        again.caught_up()


def test_a_slot_that_the_server_gave_up_is_an_error(database: Database) -> None:
    database.run("CREATE TABLE t (id int PRIMARY KEY)")
    with Reader(database.source().tables("t")) as reader:
        reader.caught_up()
        position = reader.position
    database.run("ALTER SYSTEM SET max_slot_wal_keep_size = '4MB'", "SELECT pg_reload_conf()")
    try:
        for _ in range(6):
            database.run(
                "SELECT pg_switch_wal()", "CREATE TABLE x ()", "DROP TABLE x", "CHECKPOINT"
            )
        with (
            pytest.raises(SourceError, match="was invalidated"),
            Reader(database.source().tables("t"), position) as again,
        ):
            again.caught_up()
    finally:
        database.run("ALTER SYSTEM RESET max_slot_wal_keep_size", "SELECT pg_reload_conf()")


def test_passwords_are_only_referred_to(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="password_env="):
        postgres(dbname="d", user="u", slot="s", options={"password": "zqhush"})
    with pytest.raises(SourceError, match="NOT_THERE is not in the environment"):
        postgres(dbname="d", user="u", slot="s", password_env="NOT_THERE").tables("t").tables()
    secret = tmp_path / "secret"
    secret.write_text("zqhush\n")
    source = postgres(dbname="d", user="u", slot="s", port=1, password_file=str(secret)).tables("t")
    with pytest.raises(SourceError, match="no connection") as raised:
        source.tables()
    assert "zqhush" not in f"{raised.value}{source!r}{source._settings!r}"


@pytest.mark.parametrize("slot", ["Big", "a-b", "", "x" * 64])
def test_names_of_slots_are_checked(slot: str) -> None:
    with pytest.raises(ValueError, match="names of slots"):
        postgres(dbname="d", user="u", slot=slot)
