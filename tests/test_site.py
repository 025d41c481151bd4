"""The documentation builds as a site: whole, without network, with every public name in it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest

import paimonlab

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"
PAGES = ("index", "guide", "cookbook")
"""Whose examples are run here; other pages have tests of their own."""


@pytest.fixture(scope="module")
def site() -> Path:
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "griffe:" not in said  # a docstring and a signature that do not go together
    return SITE


def _pages(site: Path) -> dict[Path, str]:
    return {page: page.read_text() for page in site.rglob("*.html") if page.name != "404.html"}


def test_every_link_leads_to_a_page_and_a_place_on_it(site: Path) -> None:
    pages = _pages(site)
    places = {
        page: set(re.findall(r'\s(?:id|name)="([^"]+)"', text)) for page, text in pages.items()
    }

    broken = []
    for page, text in pages.items():
        for link in re.findall(r'\s(?:href|src)="([^"]+)"', text):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, place = unquote(link).partition("#")
            target = (page.parent / path).resolve() if path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (place and target in places and place not in places[target]):
                broken.append(f"{page.relative_to(site)}: {link}")

    assert len(pages) > 40
    assert broken == []


def test_each_tab_leads_to_the_first_page_of_its_part(site: Path) -> None:
    parts = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]
    first = []
    for part in parts:
        (pages,) = part.values()
        while not isinstance(pages, str):
            (pages,) = pages[0].values()
        first.append(pages.replace(".md", ".html"))

    text = (site / "index.html").read_text()

    assert re.findall(r'<a href="(?:\./)?([^"]+)" class="md-tabs__link"', text) == first


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    loaded = [
        f"{page.relative_to(site)}: {tag}"
        for page, text in _pages(site).items()
        for tag in re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*(?:href|src)=.?https?:[^>]*>", text
        )
    ]

    assert loaded == []


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    text = "".join(page.read_text() for page in (site / "reference").glob("*.html"))
    modules = {"load_ipython_extension", "__version__", "errors"}

    names = {f"paimonlab.{name}" for name in paimonlab.__all__ if name not in modules}
    names |= {
        f"paimonlab.errors.{name}" for name in vars(paimonlab.errors) if name.endswith("Error")
    }

    assert {name for name in names if f'id="{name}"' not in text} == set()
    assert 'id="paimonlab.Table.write"' in text
    assert "OpenedTable" not in text, "a method shows the table that it is called on"


@pytest.mark.parametrize("name", PAGES)
def test_examples_print_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = ROOT / "docs" / f"{name}.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}

    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
        said = re.findall(r"# prints (.*)", block)
        assert capsys.readouterr().out.strip().splitlines() == said, block
