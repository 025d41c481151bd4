"""A real Jupyter Server: who may ask, from where, for what; and jobs in processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

import paimonlab as pl
from tests.ports import free_port
from tests.server.conftest import KEY, ORDERS, make_shop
from tests.waiting import until

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-of-this-test"


@dataclass(frozen=True)
class Server:
    """A Jupyter Server with our extension and nothing of the user's."""

    port: int
    root: Path

    def send(
        self, method: str, path: str, body: str | None = None, **headers: str
    ) -> tuple[int, Any, HTTPMessage]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            content = answer.read()
        try:
            return answer.status, json.loads(content), answer.headers
        except ValueError:
            return answer.status, content, answer.headers

    def ask(self, question: str, **values: Any) -> tuple[int, Any]:
        query = urlencode({"question": question, "with": json.dumps(values)})
        status, said, _ = self.send("GET", f"/paimonlab/ask?{query}", **LOGGED_IN)
        return status, said


LOGGED_IN = {"Authorization": f"token {TOKEN}"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("server")
    root = home / "root"
    make_shop(root / "work" / "shop")
    (root / "msgspec.py").write_text("raise SystemExit('imported from the folder that is shown')")
    enabled = home / "config" / "jupyter_server_config.d"
    enabled.mkdir(parents=True)
    source = ROOT / "extensions" / "jupyterlab-paimonlab" / "server.json"
    shutil.copy(source, enabled / "paimonlab.json")
    port = free_port()
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PAIMONLAB_")}
    environment = kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "tools.quick_imports", "jupyter_server"]
    command += ["--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--ServerApp.root_dir={root}", f"--IdentityProvider.token={TOKEN}", "--no-browser"]
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=home)
    made = Server(port, root)
    try:
        for _ in range(600):
            assert process.poll() is None, (home / "log").read_text()[-4000:]
            try:
                made.send("GET", "/api")
                break
            except OSError:
                time.sleep(0.1)
        yield made
    finally:
        process.terminate()
        process.wait(30)


def test_a_question_is_answered_to_a_user(server: Server) -> None:
    assert server.ask("warehouses")[1]["warehouses"][0]["key"] == KEY
    status, said = server.ask("children", path=[KEY, "sales"])
    assert (status, said["entries"][0]["name"]) == (200, "orders")


def test_nobody_else_is_answered(server: Server) -> None:
    for method, path in [
        ("GET", "/paimonlab/ask?question=warehouses"),
        ("GET", "/paimonlab/jobs"),
        ("POST", "/paimonlab/jobs"),
        ("DELETE", "/paimonlab/jobs/1"),
    ]:
        status, said, _ = server.send(method, path, "{}" if method == "POST" else None)
        assert status == 403, path
        assert KEY not in json.dumps(str(said))


def test_a_page_of_elsewhere_cannot_begin_a_job(server: Server) -> None:
    """The browser sends the cookie along; only our pages know the XSRF token."""
    _, _, headers = server.send("GET", f"/api/contents?token={TOKEN}")
    cookies = dict(
        part.partition(";")[0].split("=", 1) for part in headers.get_all("Set-Cookie") or []
    )
    jar = "; ".join(f"{name}={value}" for name, value in cookies.items())
    assert any(name.startswith("username") for name in cookies)
    body = json.dumps({"path": ORDERS, "action": "drop_table", "values": {}, "state": "x"})

    refused, _, _ = server.send("POST", "/paimonlab/jobs", body, Cookie=jar)
    deleted, _, _ = server.send("DELETE", "/paimonlab/jobs/1", Cookie=jar)
    read, _, _ = server.send(
        "GET", "/paimonlab/jobs", Cookie=jar, Origin="http://elsewhere.example"
    )

    assert (refused, deleted) == (403, 403)
    assert read in {403, 404}


@pytest.mark.parametrize(
    ("question", "values", "status"),
    [
        ("children", {"path": ["folder:../.."]}, 403),
        ("children", {"path": ["folder:/etc"]}, 403),
        ("children", {"path": [KEY, "../..", "x"]}, 400),
        ("details", {"path": [KEY, "sales", "../../../etc"]}, 400),
        ("explorer", {"path": ["folder:..", "a", "b"], "kind": "preview"}, 403),
        (
            "plan",
            {"path": ["folder:.."], "action": "create_database", "values": {"name": "x"}},
            403,
        ),
        ("children", {"path": [KEY, "no"]}, 404),
        ("children", {"path": [KEY], "limit": 10_000}, 400),
        ("children", {"no": 1}, 400),
        ("children", {"path": []}, 400),
        ("children", {"path": [1]}, 400),
        ("children", {"path": [KEY], "limit": "many"}, 400),
        ("warehouses", {"added": [5]}, 400),
        ("search", {"keys": [KEY], "text": 5}, 400),
        ("plan", {"path": [KEY], "action": "create_database", "values": {"name": 5}}, 400),
        ("do", {}, 404),
        ("__class__", {}, 404),
    ],
)
def test_what_may_not_be_asked_is_refused(
    server: Server, question: str, values: dict[str, Any], status: int
) -> None:
    found, said = server.ask(question, **values)

    assert found == status
    assert said["message"]


def test_what_is_no_object_is_refused(server: Server) -> None:
    for given in ("[]", "{", "1"):
        path = f"/paimonlab/ask?question=warehouses&with={quote(given)}"
        assert server.send("GET", path, **LOGGED_IN)[0] == 400


def test_a_job_runs_beside_the_server_and_says_what_it_did(server: Server) -> None:
    values = {"tag": "from-a-job"}
    _, plan = server.ask("plan", path=ORDERS, action="create_tag", values=values)
    begun = {"path": ORDERS, "action": "create_tag", "values": values, "state": plan["state"]}
    status, job, _ = server.send("POST", "/paimonlab/jobs", json.dumps(begun), **LOGGED_IN)
    assert (status, job["status"]) == (200, "running")

    def listed() -> Any:
        return server.send("GET", "/paimonlab/jobs", **LOGGED_IN)[1]["jobs"][0]["status"]

    until(lambda: listed() != "running")

    assert listed() == "done"
    table: Any = pl.connect(server.root / "work" / "shop").table("sales.orders")
    assert "from-a-job" in table.tags.list()
    assert server.send("DELETE", "/paimonlab/jobs/99", **LOGGED_IN)[0] == 404
