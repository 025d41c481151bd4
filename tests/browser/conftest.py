"""A browser, pages of views, and a JupyterLab, for all tests of this folder.

Whatever a page says on its console as an error, and every request that leaves this machine,
fails the test that opened it.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

from paimonlab.notebook.display.drawn import Drawn
from tests.browser import chromium
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
PageOf = Callable[..., Page]
_VIEWPORT: ViewportSize = {"width": 1280, "height": 720}
"""Playwright's own."""
expect.set_options(timeout=60_000)  # milliseconds; five seconds are short beside other tests


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.executable()
    if path is None:
        pytest.skip("no Chromium here, and Debian's could not be installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        yield started
        started.close()


@dataclass
class Watched:
    """What pages did that they must not do."""

    problems: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text}")

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        url = urlsplit(request.url)
        is_here = url.scheme in {"data", "blob", "file", "about"} or url.hostname == "127.0.0.1"
        if not is_here:
            self.problems.append(f"request: {request.url}")


@contextmanager
def watched_page(browser: Browser, *, known: Sequence[str] = (), **options: Any) -> Iterator[Page]:
    """Open an empty page; complain at the end about what it did, unless that is known."""
    context = browser.new_context(**options)
    page = context.new_page()
    watched = Watched()
    watched.watch(page)
    try:
        yield page
    finally:
        context.close()
    assert [one for one in watched.problems if one not in known] == []


@dataclass
class Pages:
    """Pages that tests open one after the other: to make one takes half a second of a core."""

    browser: Browser
    free: dict[str, list[tuple[Page, Watched]]] = field(default_factory=dict)

    @contextmanager
    def page(self, **options: Any) -> Iterator[Page]:
        """Return an empty page as a new one is; complain at the end about what it did."""
        viewport = options.pop("viewport", _VIEWPORT)
        media = {"color_scheme": "light", "reduced_motion": "no-preference"}
        media |= {name: options.pop(name) for name in [*media] if name in options}
        free = self.free.setdefault(repr(sorted(options.items())), [])
        page, watched = free.pop() if free else self._new(options)
        page.set_viewport_size(viewport)
        page.emulate_media(**{**media, "forced_colors": "none"})  # type: ignore[arg-type]
        yield page
        page.goto("about:blank")
        page.mouse.move(0, 0)
        problems, watched.problems = watched.problems, []
        free.append((page, watched))
        assert problems == []

    def _new(self, options: Mapping[str, Any]) -> tuple[Page, Watched]:
        page, watched = self.browser.new_context(**options).new_page(), Watched()
        watched.watch(page)
        return page, watched


@pytest.fixture(scope="session")
def pages(browser: Browser) -> Pages:
    return Pages(browser)


@pytest.fixture
def page_of(pages: Pages, tmp_path: Path) -> Iterator[PageOf]:
    """Return a function that opens a view as a page of its own.

    ``page_of(view)``; ``page_of(view, color_scheme="dark")`` and other options of a browser
    context of Playwright.
    """
    numbers = itertools.count(1)
    with ExitStack() as opened:

        def open_page(view: Drawn[Any], **options: Any) -> Page:
            page = opened.enter_context(pages.page(**options))
            path = view.save(tmp_path / f"view-{next(numbers)}.html")
            page.goto(path.as_uri())
            return page

        yield open_page


@dataclass(frozen=True)
class Lab:
    """A JupyterLab of its own, or a Notebook 7."""

    url: str
    token: str
    folder: Path
    place: str = "lab/tree"
    """Where a notebook is opened."""

    def address(self, notebook: str) -> str:
        return f"{self.url}/{self.place}/{notebook}?token={self.token}&reset"


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Start JupyterLab with our extension and nothing of the user's; stop it by its process."""
    with started("jupyterlab", tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture(scope="session")
def notebook_7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Start Notebook 7 likewise."""
    pytest.importorskip("notebook")
    with started("notebook", tmp_path_factory.mktemp("notebook")) as running:
        yield running


@contextmanager
def started(module: str, home: Path, *, is_deterministic: bool = True) -> Iterator[Lab]:
    """Start JupyterLab or Notebook 7 (``notebook``) in a folder of its own."""
    folder = home / "notebooks"
    folder.mkdir()
    shutil.copytree(
        ROOT / "paimonlab" / "labextension",
        home / "share" / "labextensions" / "jupyterlab-paimonlab",
    )
    enabled = home / "config" / "jupyter_server_config.d"
    enabled.mkdir(parents=True)
    extension = ROOT / "extensions" / "jupyterlab-paimonlab"
    shutil.copy(extension / "server.json", enabled / "paimonlab.json")
    asking = home / "settings" / "@jupyterlab" / "apputils-extension"
    asking.mkdir(parents=True)
    (asking / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    port, token = free_port(), secrets.token_hex(16)
    environment = os.environ | {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_PATH": str(home / "share"),
        "PYTHONPATH": str(ROOT),
        "PAIMONLAB_DETERMINISTIC": "1" if is_deterministic else "",
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [sys.executable, "-m", "tools.quick_imports", module, "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    if module == "jupyterlab":
        command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=home)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/api?token={token}", process, home / "log")
        yield Lab(url, token, folder, "lab/tree" if module == "jupyterlab" else "notebooks")
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-4000:]}")
