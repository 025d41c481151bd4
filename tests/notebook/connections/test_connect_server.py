"""Cells whose SQL runs on a Spark Connect server, and connections that the environment offers."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell
from pyspark.errors import AnalysisException
from pyspark.sql.connect.session import SparkSession as Client

from paimonlab.catalog import settings
from paimonlab.errors import UnsupportedError
from paimonlab.notebook import commands
from paimonlab.notebook.completion.completion import candidates
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.warehouse_connection import Connection
from paimonlab.notebook.kernel.interruptible import Cancelled
from paimonlab.notebook.kernel.progress import ProgressDisplay, StatementProgress, of_stages
from paimonlab.spark import serve
from paimonlab.spark.sessions import remote
from paimonlab.spark.sessions import server as server_module
from paimonlab.spark.sessions import session as session_module
from paimonlab.spark.sessions.remote import RemoteError, address, is_remote
from paimonlab.spark.sessions.server import CatalogOfSessions
from tests.notebook.connections.conftest import TABLE
from tests.notebook.connections.connect_server import Server
from tests.notebook.magics.test_magics import failure, refusal, run

SLOW = "SELECT sum(hash(a.id, b.id)) FROM range(0, 3000000, 1, 4) a, range(3000000) b"
HUSH = "hush-hush"


def test_the_environment_offers_a_server_and_shows_no_value(
    shell: InteractiveShell,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(remote.VARIABLE, f"{server.url};x-secret={HUSH}")

    offered = run(shell, "%paimon_connect --list")
    run(shell, "%paimon_connect --use SPARK_REMOTE")
    opened = run(shell, "%paimon_connect --list")
    answer = run(shell, "%paimon SELECT count(*) AS n FROM db.t")
    refused = failure(shell, capsys, "%paimon_timeline db.t")
    run(shell, "%paimon_connect --close SPARK_REMOTE")

    (entry,) = offered.to_arrow().to_pylist()
    assert entry["state"] == "offered"
    assert entry["warehouse"] == "${SPARK_REMOTE}"
    assert entry["line"] == "%paimon_connect --use SPARK_REMOTE"
    assert opened.to_arrow().to_pylist()[0]["warehouse"] == f"sc://{address(server.url)}"
    assert not {HUSH, token_of(server)} & words(repr(offered) + repr(opened))
    assert answer.to_arrow()["n"].to_pylist() == [3]
    assert refused[0].startswith("UsageError: a view of tables that only a Spark Connect server")
    assert refused[0].endswith(
        "give the warehouse as well: %paimon_connect PATH --use SPARK_REMOTE"
    )


def test_what_is_connected_is_one_line(
    shell: InteractiveShell,
    server: Server,
    warehouse: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(remote.VARIABLE, f"{server.url};x-secret={HUSH}")

    run(shell, f'%paimon_connect "{warehouse}" --use SPARK_REMOTE')

    version = connections.current().session("a test").version
    assert capsys.readouterr().out == (
        f"connected: catalog paimon as SPARK_REMOTE of the Spark Connect server at "
        f"{address(server.url)}, Spark {version}; views read {warehouse}\n"
    )
    assert run(shell, "%paimon_timeline db.t").to_arrow()["id"].to_pylist()[:2] == [1, 2]


def test_values_keep_their_types_both_ways(there: InteractiveShell) -> None:
    there.user_ns |= {
        "big": 2**53 + 1,
        "price": Decimal("1.50"),
        "names": ["a", "x"],
        "moment": dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC),
    }
    sql = (
        "SELECT :big AS big, CAST(NULL AS BIGINT) AS nothing, :price AS price, :moment AS moment, "
        "double('NaN') AS nan, parse_json('[1]') AS v, INTERVAL '1' MONTH AS month, "
        "s FROM (SELECT named_struct('a', 1) AS s UNION ALL SELECT NULL)"
    )

    found = run(there, "%paimon " + sql).to_arrow().to_pylist()
    names = run(there, "%paimon SELECT id FROM db.t WHERE array_contains(:names, v) ORDER BY id")

    assert found[0] | {"nan": None} == {
        "big": 2**53 + 1,
        "nothing": None,
        "price": Decimal("1.50"),
        "moment": dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC),
        "nan": None,
        "v": "[1]",
        "month": "INTERVAL '1' MONTH",
        "s": {"a": 1},
    }
    assert found[0]["nan"] != found[0]["nan"]
    assert found[1]["s"] is None
    assert names.to_arrow()["id"].to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT _metadata.file_path FROM db.t", "Tables of Paimon call it __paimon_file_path."),
        ("SELECT id FROM db.t WHERE id IN (SELECT _pos FROM db.t)", "call it __paimon_row_index."),
        ("SELECT _metadata.file_size FROM db.t", "Tables of Paimon have __paimon_file_path, "),
        ("SELECT * FROM db.tt", "cannot be found. Did you mean 'db.t'?"),
        ("DELETE FROM paimon.db.tt", "cannot be found. Did you mean 'db.t'?"),
        ("SELECT * FROM db.t WHERE id IN (SELECT id FROM dbb.t)", "Did you mean 'db'?"),
    ],
)
def test_errors_of_the_server_say_which_name_is_meant(
    session: Client, query: str, said: str
) -> None:
    with pytest.raises(AnalysisException) as told:
        session.sql(query).collect()

    message = str(told.value).split(";")[0]
    assert message.count(said) == 1, message
    assert told.value.getSqlState() == ("42P01" if "Did you mean" in said else "42703")


def test_a_limit_tells_that_there_are_more_rows(there: InteractiveShell, tmp_path: Path) -> None:
    result = run(there, "%paimon --limit 2 SELECT id FROM db.t")
    run(there, f"%paimon --to {tmp_path}/rows.arrow --as-of 1 SELECT * FROM db.t")

    assert (len(result), result.stats.has_more_rows) == (2, True)
    assert result.spark.count() == 3
    assert pa.ipc.open_file(tmp_path / "rows.arrow").read_all().to_pydict() == TABLE


def test_writes_and_system_tables_work(there: InteractiveShell) -> None:
    run(there, "%paimon CREATE TABLE db.w (a INT)")
    run(there, "%paimon INSERT INTO db.w VALUES (1), (2)")

    rows = run(there, "%paimon SELECT total_record_count AS n FROM db.w$snapshots")

    assert rows.to_arrow()["n"].to_pylist() == [2]
    assert connections.current().catalog.table("db.w").scan().count() == 2


def test_as_of_reads_all_tables_as_they_were(
    there: InteractiveShell, session: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    before = run(there, "before = %paimon --as-of 1 SELECT * FROM db.t ORDER BY id")
    now = run(there, "%paimon SELECT count(*) AS n FROM db.t")
    lazy = failure(there, capsys, "%paimon --lazy --as-of 1 SELECT * FROM db.t")
    (view,) = refusal(there, capsys, "%paimon --view v --as-of 1 SELECT * FROM db.t")

    assert before is None
    assert there.user_ns["before"].to_arrow().to_pydict() == TABLE
    assert now.to_arrow()["n"].to_pylist() == [3]
    assert session.conf.get("spark.paimon.scan.snapshot-id", None) is None
    assert "--view with --as-of is not supported: on a Spark Connect server" in view
    assert "--lazy with --as-of is not supported: on a Spark Connect server" in lazy[0]
    with pytest.raises(UnsupportedError, match="on a Spark Connect server it would read"):
        _ = there.user_ns["before"].spark


def test_as_of_is_refused_where_nobody_would_look_at_it(
    there: InteractiveShell, session: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    session.catalog.setCurrentCatalog("spark_catalog")
    try:
        (line, *_) = failure(there, capsys, "%paimon --as-of 1 SELECT 1")
    finally:
        session.catalog.setCurrentCatalog("paimon")

    assert "--as-of in catalog spark_catalog of a Spark Connect server" in line


def test_errors_point_into_the_cell(
    there: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    column = failure(there, capsys, "%%paimon\nSELECT id,\n  nope FROM db.t")
    table = failure(there, capsys, "%paimon SELECT * FROM db.tt")
    ours = failure(there, capsys, "%paimon DELETE FROM db.`t$files`")
    typo = failure(there, capsys, "%paimon SELEC 1")
    late = failure(there, capsys, "%paimon SELECT 1 / (id - id) FROM db.t")

    assert column[0].startswith("A column, variable, or function parameter")
    assert pointer(column) == ["   2 |   nope FROM db.t", "     |   ^^^^"]
    assert "Did you mean `id` or `v`?" in column
    assert pointer(table) == ["   1 | SELECT * FROM db.tt", "     |               ^^^^^"]
    assert any(line.startswith("Did you mean 'db.t'") for line in table)
    assert ours[0].startswith("DELETE FROM paimon.db.`t$files` is not supported: only rows of")
    assert not any("stacktrace" in line for line in ours)
    assert pointer(typo) == ["   1 | SELEC 1", "     | ^^^^^"]
    assert pointer(late) == ["   1 | SELECT 1 / (id - id) FROM db.t", "     |        ^^^^^^^^^^^^^"]


def test_an_interrupt_stops_the_operation_on_the_server(
    there: InteractiveShell, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(
        _display: ProgressDisplay, progress: StatementProgress | None, *_: object, **_others: object
    ) -> None:
        if progress is not None and progress.count and server.count("jobs"):
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ProgressDisplay, "show", interrupt)
        with pytest.raises(Cancelled, match=r"cancelled after .* s \(\d+/\d+ tasks"):
            commands.sql(SLOW)

    tries = 0
    while server.count("jobs") and tries < 300:
        tries += 1
        Event().wait(0.1)
    assert server.count("jobs") == 0
    assert run(there, "%paimon SELECT 1 AS a").to_arrow().to_pydict() == {"a": [1]}


def test_lazy_frames_and_views(there: InteractiveShell) -> None:
    frame = run(there, "%paimon --lazy SELECT id FROM db.t")
    run(there, "%paimon --view seen SELECT id FROM db.t WHERE id > 1")

    assert is_remote(frame)
    assert frame.count() == 3
    assert run(there, "%paimon SELECT count(*) AS n FROM seen").to_arrow()["n"].to_pylist() == [2]


def test_the_plan_of_a_server_is_refused_by_name(
    there: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = refusal(there, capsys, "%paimon --dry-run SELECT * FROM db.t")
    (profile,) = refusal(there, capsys, "%paimon --profile SELECT * FROM db.t")

    assert line.startswith("UsageError: --dry-run or --explain over Spark Connect is not supported")
    assert profile.startswith("UsageError: --profile over Spark Connect is not supported: ")


def test_procedures_run_on_the_server(there: InteractiveShell) -> None:
    call = "CALL sys.create_tag(table => 'db.t', tag => 'first', snapshot => 1)"

    assert "db.t: created tag first of snapshot 1; 1 row" in run(there, f"%paimon {call}").to_text()
    assert run(there, "%paimon --as-of first SELECT id FROM db.t").to_arrow().num_rows == 2


def test_a_session_of_the_notebook_is_on_offer(
    shell: InteractiveShell, session: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["mine"] = session

    (entry,) = run(shell, "%paimon_connect --list").to_arrow().to_pylist()
    _, offered = candidates("%paimon_connect --use m", "", lambda: None, shell.user_ns, _none)  # type: ignore[arg-type,return-value]
    run(shell, "%paimon_connect --use mine --catalog spark_catalog")
    listed = run(shell, "%paimon_connect --list").to_arrow().to_pylist()
    run(shell, "%paimon_connect --use mine --catalog paimon")
    wrong = failure(shell, capsys, "%paimon_connect --use mine --catalog paimo")
    run(shell, "%paimon_connect --close mine")

    assert entry["line"] == "%paimon_connect --use mine"
    assert [one.text for one in offered] == ["mine"]
    assert [(one["alias"], one["catalog"]) for one in listed] == [("mine", "spark_catalog")]
    assert "the Spark Connect server has no catalog paimo. Did you mean 'paimon'?" in wrong[0]
    assert session.sql("SELECT 1").count() == 1


def test_tables_are_known_without_the_warehouse(
    there: InteractiveShell, session: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    connections.disconnect()
    made = connections.connect(spark=session, alias="only there")

    (line, *_) = failure(there, capsys, "%paimon_tables")

    assert "db.t" in made.known_tables()
    assert "give the warehouse as well" in line


def test_a_configured_server_takes_its_token_from_the_environment(
    shell: InteractiveShell,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config = tmp_path / "paimonlab" / "config.toml"
    config.parent.mkdir()
    place, token = server.url.partition(";")[0], token_of(server)
    config.write_text(f'[far]\nremote = "{place};token={HUSH}"\n')
    plain = failure(shell, capsys, "%paimon_connect --use far")
    config.write_text(f'[far]\nremote = "{place};token=${{HUSHED}}"\n')
    unset = failure(shell, capsys, "%paimon_connect --use far")
    monkeypatch.setenv("HUSHED", token)

    (entry,) = run(shell, "%paimon_connect --list").to_arrow().to_pylist()
    run(shell, "%paimon_connect --use far")
    made = connections.current()
    said = capsys.readouterr().out

    assert "remote;token is a secret in plain text" in plain[0]
    assert HUSH not in plain[0]
    assert "the environment variable is not set" in unset[0]
    assert (entry["engine"], entry["warehouse"]) == (
        "connect",
        f"sc://{address(server.url)}/",
    )
    assert made.engine == "connect"
    assert token not in said + repr(settings.read()["far"])


def test_an_address_that_is_none_is_not_repeated(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for wrong in (f"http://{HUSH}", f"sc://me:{HUSH}@host", f"sc://host:port/{HUSH}", HUSH):
        monkeypatch.setenv(remote.VARIABLE, wrong)
        (line,) = refusal(shell, capsys, "%paimon_connect --use SPARK_REMOTE")
        assert line.startswith("UsageError: the address of a Spark Connect server looks like")
        assert HUSH not in line
    monkeypatch.setenv(remote.VARIABLE, f"sc://host/;token={HUSH};x")
    (line,) = refusal(shell, capsys, "%paimon_connect --use SPARK_REMOTE")
    assert line == (
        "UsageError: the address of the Spark Connect server at host:15002 has a wrong parameter"
    )
    (line,) = refusal(shell, capsys, "%paimon_connect sc://host")
    assert "put its address into SPARK_REMOTE" in line


def test_a_server_that_is_not_there_is_said_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "ANSWER_SECONDS", 0.2)
    with pytest.raises(RemoteError, match=r"no Spark Connect server answers at 127\.0\.0\.1:1 "):
        remote.open_session("sc://127.0.0.1:1")


def test_a_server_that_has_gone_is_named_with_what_to_do(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = Client.builder.remote("sc://127.0.0.1:1").create()
    lost.client.set_retry_policies([])
    lost.release_session_on_close = False
    made = Connection(lost, None, "paimon", "", "lost")  # type: ignore[arg-type]
    with monkeypatch.context() as patched:
        patched.setattr(type(lost.catalog), "setCurrentCatalog", lambda *_: None)
        connections.make_current(made)

    said = failure(shell, capsys, "%paimon SELECT 1")
    again = failure(shell, capsys, "%paimon_connect --use lost")
    lost.stop()

    assert said[0] == "The Spark Connect server does not answer any more."
    assert any("%paimon_connect --close NAME, then --use NAME" in line for line in said)
    assert "%paimon_connect --close lost, then --use lost" in again[0]


def test_every_session_has_the_catalog_and_closed_ones_are_forgotten(
    server: Server, session: Any
) -> None:
    assert session.table("db.t").count() == 3
    counts = []
    for _ in range(4):
        other = remote.open_session(server.url)
        assert other.catalog.currentCatalog() == "paimon"
        assert other.table("db.t").count() == 3
        counts.append(server.count("sessions"))
        other.stop()

    assert max(counts[1:]) <= counts[0] + 1


def test_a_server_asks_for_a_token_that_nobody_else_is_shown(server: Server, session: Any) -> None:
    place, token = address(server.url), token_of(server)
    command_lines = [
        line.read_bytes() for line in Path("/proc").glob("[0-9]*/cmdline") if line.is_file()
    ]

    for url, said in (
        (f"sc://{place}", "No authentication token provided"),
        (f"sc://{place.replace('localhost', '127.0.0.1')}", "No authentication token provided"),
        (f"sc://{place}/;token={token[:-1]}", "Invalid authentication token"),
        (f"sc://{place}/;token=", "Invalid authentication token"),
    ):
        with pytest.raises(RemoteError, match=f"refused: {said}; whoever started it") as refused:
            remote.open_session(url)
        assert token[:-1] not in str(refused.value)

    assert len(token) > 40
    assert any(b"SparkSubmit" in line for line in command_lines)
    assert not any(token.encode() in line for line in command_lines)
    assert session.range(1).count() == 1
    assert token not in str(session.sql("SET").collect())


@pytest.mark.parametrize(
    ("conf", "options", "problem"),
    [
        (
            {},
            {"open_to_all": True, "host": "0.0.0.0"},
            r"0\.0\.0\.0 without a token lets everybody",
        ),
        ({}, {"open_to_all": True, "token": "x"}, "there is one: leave out token"),
        ({server_module.TOKEN_KEY: "x"}, {"open_to_all": True}, "there is one: leave out token"),
        ({server_module.TOKEN_KEY: "x"}, {"token": "x"}, "say the same"),
        ({server_module.TOKEN_KEY: ""}, {}, "a token has visible ASCII characters, at least one"),
        ({}, {"token": "two words"}, "a token has visible ASCII characters"),
    ],
)
def test_a_token_that_protects_nothing_is_refused(
    tmp_path: Path,
    conf: dict[str, str],
    options: dict[str, Any],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(server_module.TOKEN_VARIABLE, raising=False)

    with pytest.raises(ValueError, match=problem):
        serve(tmp_path, conf=conf, **options)


def test_a_server_open_to_all_is_refused_beside_a_token_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(server_module.TOKEN_VARIABLE, HUSH)

    with pytest.raises(ValueError, match="out of the environment") as refused:
        serve(tmp_path, open_to_all=True)

    assert HUSH not in str(refused.value)


def test_a_server_shows_its_address_and_not_its_token() -> None:
    url = server_module._url("::1", 15002, "hush;=/+")
    made = server_module.Server(cast("Any", None), url)

    assert url == "sc://localhost:15002/;token=hush%3B%3D%2F%2B"
    assert repr(made) == str(made) == "Server at localhost:15002"
    assert server_module._url("127.0.0.1", 15002, None) == "sc://127.0.0.1:15002"
    assert server_module._url("lake", 15002, HUSH) == f"sc://lake:15002/;token={HUSH}"


def test_secrets_of_a_session_are_kept_off_the_command_line_of_its_jvm() -> None:
    settings = {
        "spark.hadoop.fs.s3a.secret.key": HUSH,
        "spark.hadoop.fs.defaultFS": f"s3://me:{HUSH}@lake",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-Djavax.net.ssl.keyStorePassword=x",
    }

    hidden = [key for key, value in settings.items() if session_module._is_hidden(key, value)]

    assert hidden == ["spark.hadoop.fs.s3a.secret.key", "spark.hadoop.fs.defaultFS"]


def test_a_token_that_is_not_sent_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "ANSWER_SECONDS", 0.2)

    with pytest.raises(RemoteError, match=r"TLS only: write localhost") as refused:
        remote.open_session(f"sc://127.0.0.1:1/;token={HUSH}")

    assert HUSH not in str(refused.value)


def test_a_session_that_opens_while_closed_ones_are_looked_for_keeps_its_catalog(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken_from: list[Any] = []
    monkeypatch.setattr(server_module, "unregister", lambda own, _name: taken_from.append(own))
    catalogs: Any = CatalogOfSessions(cast("Any", None), "paimon", cast("Any", None))
    catalogs._bridges = {"old": "its bridge", "new": "another"}
    other = Thread(target=catalogs._forget_closed)

    def listed() -> set[str]:
        if other.ident is not None:
            return {"old", "new"}
        other.start()  # lists them later than this thread, and would be done earlier
        other.join(0.1)
        return {"old"}

    monkeypatch.setattr(catalogs, "_active", listed)
    catalogs._forget_closed()
    other.join()

    assert catalogs.session_count == 2
    assert not taken_from


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "find_spec", lambda name: None if name == "grpc_status" else 1)

    with pytest.raises(UnsupportedError, match=r"without grpc_status .*paimonlab\[connect\]"):
        remote.check_packages()


def test_the_environment_configures_the_default_by_name(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", f"s3://me:{HUSH}@lake/w")

    listed = run(shell, "%paimon_connect --list")

    (entry,) = listed.to_arrow().to_pylist()
    assert (entry["alias"], entry["state"]) == ("default", "offered")
    assert entry["warehouse"] == "${PAIMONLAB_WAREHOUSE}"
    assert HUSH not in repr(listed)


def test_progress_of_a_server_adds_its_stages_up() -> None:
    stages = [
        SimpleNamespace(stage_id=1, num_completed_tasks=3, num_tasks=4, done=False),
        SimpleNamespace(stage_id=2, num_completed_tasks=0, num_tasks=2, done=False),
    ]
    assert of_stages(stages).parts == ["3/6 tasks", "0/2 stages"]


def token_of(server: Server) -> str:
    """Return what the server made up."""
    return server.url.rpartition(";token=")[2]


def words(text: str) -> set[str]:
    """Return what stands between spaces and signs."""
    return set(re.findall(r"[\w-]+", text))


def pointer(lines: list[str]) -> list[str]:
    """Return the line of the cell that an error points into, and the carets."""
    return [line for line in lines if " | " in line]


def _none(_magic: str) -> list[str]:
    return []
