"""Each option that holds a secret in each kind of output: none of them is shown.

All options are put into a table, a commit, a statement, an error or the environment at once, each
with a secret of its own; every output is then looked through for every secret.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import nbformat
import pytest
from click.testing import CliRunner
from IPython.core.interactiveshell import InteractiveShell
from nbconvert import HTMLExporter, MarkdownExporter

import paimonlab as pl
from paimonlab.catalog.settings import read
from paimonlab.cli.main import main
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.notebook.cell.history import history
from paimonlab.notebook.cell.parameters import bind_names
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.spark_errors import explain
from paimonlab.notebook.cell.statements import quote_system_tables, split
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.completion.completion import candidates
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.kernel.selection import selections
from paimonlab.notebook.views.problem.drawing import draw as draw_problem
from paimonlab.spark.sessions.session import _is_hidden
from paimonlab.table.table import Table
from tests.notebook.completion.test_completion import NAMES
from tests.notebook.hostile_views import VIEWS, marked_table
from tests.secret_options import MARK, SECRETS, URIS

SETTINGS = ", ".join(f"'{key}' = '{secret}'" for key, secret in SECRETS.items())
CREATE = f"CREATE TABLE db.t (a INT) TBLPROPERTIES ({SETTINGS})"
STORED = {key: secret for key, secret in SECRETS.items() if not key.startswith("parquet.")}
"""What a table is opened with; with the others it is refused, which is an output of its own."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Return a table whose options and commits hold every secret."""
    folder = tmp_path_factory.mktemp("warehouse")
    marked_table(folder)
    schema = max((folder / "zqdatabase.db" / "zqtable" / "schema").iterdir())
    stored = json.loads(schema.read_text(encoding="utf-8"))
    stored["options"] |= STORED
    schema.write_text(json.dumps(stored), encoding="utf-8")
    opened = pl.connect(folder).table("zqdatabase.zqtable")
    assert isinstance(opened, Table)
    opened.write(opened.scan().to_arrow(), properties=SECRETS)
    return opened


@pytest.fixture
def here(shell: InteractiveShell, table: Table) -> Iterator[InteractiveShell]:
    """Return a shell that is connected to its warehouse, without Spark."""
    connections.connect(Path(table.path).parents[1], engine="native")
    yield shell
    connections.disconnect()


def _of_views(show: Callable[[Any], str]) -> Callable[..., str]:
    def told(table: Table, **_: Any) -> str:
        return "\n".join(show(VIEWS[kind](table)) for kind in VIEWS)

    return told


def _saved(view: Any, folder: Path) -> str:
    return str(view.save(folder / "page.html").read_text(encoding="utf-8"))


def _reprs(table: Table, **_: Any) -> str:
    things: list[Any] = [
        *(pl.SetOption(key, secret) for key, secret in SECRETS.items()),
        table,
        table.schema,
        table.snapshot,
        *(_read_with(table, key, secret) for key, secret in SECRETS.items()),
        table.scan(where="zqcolumn = 'password=zqhush'").explain(),
        split(CREATE),
        connections.connections(),
    ]
    return "\n".join(f"{one!r} {one}" for one in things)


def _read_with(table: Table, key: str, secret: str) -> object:
    """Return a scan with an option, or how it is refused."""
    try:
        return table.scan(options={key: secret})
    except PaimonError as error:
        return error


def _errors() -> Iterator[Exception]:
    for key, secret in SECRETS.items():
        yield UnsupportedError(f"{key} = '{secret}'")
        yield PaimonError(f"{{'{key}': '{secret}'}}")
    for uri in URIS:
        yield UnsupportedError(f"uri = '{uri}'")


def _refused(**_: Any) -> str:
    """Return what is said of an error where it is raised."""
    told = []
    for error in _errors():
        try:
            raise error
        except PaimonError as caught:
            told.append(repr(caught))
            if isinstance(caught, UnsupportedError):
                told += traceback.format_exception_only(caught)
    return "\n".join(told)


def _failed() -> QueryError:
    cause = ValueError(SETTINGS + "".join(URIS))
    error = QueryError(
        f"cannot: {SETTINGS}", topic="sql", statement=split(CREATE)[0], hint=f"leave {SETTINGS}"
    )
    error.__cause__ = cause
    return error


def _block(**_: Any) -> str:
    drawn = draw_problem(_failed().problem(has_trace=True))
    return drawn.to_html() + drawn.to_text() + drawn.to_markdown() + repr(_failed())


def _lines(**_: Any) -> str:
    shown = _failed()._render_traceback_() + _failed().shown()._render_traceback_()
    return "\n".join([*shown, str(wrong_use(SETTINGS + " ".join(URIS), "sql"))])


def _ran(shell: InteractiveShell, capsys: pytest.CaptureFixture[str], *cells: str) -> str:
    """Run cells; return all that is seen of them, and what they return."""
    capsys.readouterr()
    told = [_told(shell.run_cell(cell).result) for cell in cells]
    captured = capsys.readouterr()
    return "\n".join([*told, captured.out, captured.err])


def _told(result: Any) -> str:
    bundle = getattr(result, "_repr_mimebundle_", None)
    return repr(result) + (json.dumps(bundle(), default=str) if bundle else "")


def _spark_errors(**_: Any) -> str:
    from pyspark.errors import AnalysisException, PySparkException  # noqa: PLC0415 - slow

    found = []
    statement = split(CREATE)[0]
    for kind in (AnalysisException, PySparkException):
        error = explain(kind(f"no: {SETTINGS}"), statement, quote_system_tables(statement), list)
        assert error is not None
        found += [str(error), repr(error), draw_problem(error.problem(has_trace=True)).to_html()]
    return "\n".join(found)


def _calls(here: InteractiveShell, capsys: pytest.CaptureFixture[str], **_: Any) -> str:
    options = ",".join(f"{key}={secret}" for key, secret in SECRETS.items())
    call = f"CALL sys.compact(`table` => 'zqdatabase.zqtable', options => '{options}')"
    pairs = "; ".join(
        f"CALL sys.alter(key => '{key}', value => '{secret}')" for key, secret in SECRETS.items()
    )
    return _ran(
        here,
        capsys,
        f"%paimon {call}",
        f"%paimon --dry-run {call}",
        f"%paimon {pairs}",
        "%paimon_trace",
    )


def _plans(here: InteractiveShell, capsys: pytest.CaptureFixture[str], **_: Any) -> str:
    values = ", ".join(f"'{key}={secret}'" for key, secret in SECRETS.items())
    query = f"SELECT zqkey FROM zqdatabase.zqtable WHERE zqcolumn IN ({values})"
    return _ran(
        here,
        capsys,
        f"%paimon --dry-run {query}",
        f"%paimon --explain {query}",
        f"%paimon --profile {query}",
        "%paimon_profile zqdatabase.zqtable --where \"zqcolumn = 'password=zqhush'\"",
    )


def _histories(here: InteractiveShell, capsys: pytest.CaptureFixture[str], **_: Any) -> str:
    with history().recorded(CREATE, "zqalias"):
        pass
    return _ran(here, capsys, f"%paimon {CREATE}", "%paimon_history")


def _parameters(here: InteractiveShell, capsys: pytest.CaptureFixture[str], **_: Any) -> str:
    here.user_ns |= {"settings": SETTINGS, "api_token": "zqhush", "uri": " ".join(URIS)}
    cell = "%%paimon --explain-params\nSELECT :settings, :api_token, :uri"
    shown = "%%paimon -j --show-sql\nSELECT {{ settings|raw }}, {{ api_token }}"
    assert bind_names(split("SELECT :api_token")[0], here.user_ns) == {"api_token": "zqhush"}
    return _ran(here, capsys, cell, shown)


def _completions(**_: Any) -> str:
    variables: dict[str, Any] = {"settings": SETTINGS, "api_token": "zqhush"}
    variables.update((f"v{number}", uri) for number, uri in enumerate(URIS))
    _word, found = candidates("%paimon SELECT :", "", lambda: NAMES, variables, lambda _: [])
    assert {one.text for one in found} >= {":settings", ":api_token"}
    return repr(found)


def _environment(
    here: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    **_: Any,
) -> str:
    for key, secret in SECRETS.items():
        monkeypatch.setenv(key.replace(".", "_").replace("-", "_").upper(), secret)
    monkeypatch.setenv("SPARK_REMOTE", URIS[-1])
    monkeypatch.setenv("PAIMONLAB_WAREHOUSE", URIS[0])
    monkeypatch.setenv("PAIMONLAB_REMOTE", URIS[-1])
    config = tmp_path / "no settings" / "paimonlab" / "config.toml"
    config.parent.mkdir(parents=True)
    told = []
    for number, (key, secret) in enumerate(SECRETS.items()):
        config.write_text(f'[c{number}]\nwarehouse = "/w"\n"{key}" = "{secret}"\n')
        told.append(_ran(here, capsys, "%paimon_connect --list"))
        assert "is a secret in plain text" in told[-1]
    lines = [f'[c{number}]\nwarehouse = "{uri}"\n' for number, uri in enumerate(URIS)]
    config.write_text("".join(lines))
    told += [repr(read()), _ran(here, capsys, "%paimon_connect --list", "%paimon_doctor")]
    told += [_ran(here, capsys, f"%paimon_connect {uri}") for uri in URIS if "://" in uri]
    return "\n".join(told)


def _messages(table: Table, **_: Any) -> str:
    """Return what a front end is told: the comm of a widget, and replies."""
    told = []
    for kind in VIEWS:
        view = VIEWS[kind](table)
        told.append(json.dumps(view.widget().get_state(), default=str))
        for request in ({"settings": SETTINGS}, {"rows": {"search": SETTINGS}}, SECRETS):
            reply = selections().hear({"id": view.id, "number": 1, "request": request})
            told.append(json.dumps(reply, default=str))
    return "\n".join(told)


def _notebook(table: Table, tmp_path: Path, **_: Any) -> str:
    """Return a stored notebook, and its exports."""
    book: Any = nbformat.v4.new_notebook()
    for kind in VIEWS:
        output = nbformat.v4.new_output(
            "display_data", json.loads(json.dumps(VIEWS[kind](table)._repr_mimebundle_()))
        )
        book.cells.append(nbformat.v4.new_code_cell("x", outputs=[output]))
    told = [nbformat.writes(book)]
    exporters = (HTMLExporter(), MarkdownExporter())
    return "\n".join([*told, *(one.from_notebook_node(book)[0] for one in exporters)])


def _shell(table: Table, **_: Any) -> str:
    """Return what the command line says."""
    place, runner = str(Path(table.path).parents[1]), CliRunner()
    options = ",".join(f"{key}={secret}" for key, secret in SECRETS.items())
    call = f"CALL sys.compact(`table` => 'zqdatabase.zqtable', options => '{options}')"
    lines = [
        ["call", place, call],
        ["snapshots", place, "zqdatabase.zqtable"],
        ["health", place, "zqdatabase.zqtable"],
        ["fsck", place, "zqdatabase.zqtable"],
        *(["tables", uri] for uri in URIS if "://" in uri),
    ]
    return "\n".join(runner.invoke(main, line).output for line in lines)


def _launched(**_: Any) -> str:
    """Return what stands on the command line of a JVM."""
    settings = SECRETS | {f"spark.place{number}": uri for number, uri in enumerate(URIS)}
    return str([one for one in settings.items() if not _is_hidden(*one)])


OUTPUTS: dict[str, Callable[..., str]] = {
    "views as HTML": _of_views(lambda view: view.to_html()),
    "views as text": _of_views(lambda view: view.to_text()),
    "views as Markdown": _of_views(lambda view: view.to_markdown()),
    "views as JSON": _of_views(lambda view: msgspec.json.encode(view.data()).decode()),
    "saved pages": lambda table, tmp_path, **_: _of_views(lambda view: _saved(view, tmp_path))(
        table
    ),
    "messages to a front end": _messages,
    "stored notebooks and their exports": _notebook,
    "reprs": _reprs,
    "errors that are raised": _refused,
    "error blocks with the whole trace": _block,
    "errors of one line": _lines,
    "errors of Spark": _spark_errors,
    "arguments of CALL": _calls,
    "plans, dry runs and profiles": _plans,
    "the history": _histories,
    "values of parameters and templates": _parameters,
    "completion": _completions,
    "connections, settings and the environment": _environment,
    "the command line": _shell,
    "the command line of the JVM": _launched,
}
"""Every kind of output; the log is looked through with each of them."""


@pytest.mark.parametrize("output", OUTPUTS)
def test_no_output_shows_a_secret(
    output: str,
    table: Table,
    here: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    with caplog.at_level(logging.DEBUG, "paimonlab"):
        told = OUTPUTS[output](
            table=table, here=here, capsys=capsys, monkeypatch=monkeypatch, tmp_path=tmp_path
        )

    assert told
    leaks = [key for key, secret in SECRETS.items() if secret in told + caplog.text]
    assert leaks == []
    assert MARK not in told + caplog.text
