"""Pages of views, their pictures, and what is found in each without looking at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Locator

from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.page import page as page_of
from tests.browser.contrast import LEAST, contrasts

_BROWSER = Path(__file__).parents[2] / "tests" / "browser"
LOOK = (_BROWSER / "look.js").read_text(encoding="utf-8")
TEXTS = Path(__file__).with_name("texts.js").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """Which pictures are taken of a view."""

    forms: Sequence[str]
    """Of ``interactive``, ``static``."""
    widths: Sequence[int]
    """Pixels."""
    themes: Sequence[Any]
    """Of ``light``, ``dark``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture that was taken."""

    path: Path
    found: Sequence[str]
    """What is wrong with it, one sentence each."""
    draw_seconds: float
    """Time of a core that the page took until it was drawn."""


def pictures(
    browser: Browser, view: Drawn[Any], name: str, kinds: Kinds, target: Path
) -> Iterator[Picture]:
    """Take the pictures of one view."""
    pages = {form: target / f"{name}-{form}.html" for form in kinds.forms}
    for form, path in pages.items():
        data = view.data() if form == "interactive" and view.kind else None
        path.write_text(page_of(view.grid.caption, view.to_html(), data), encoding="utf-8")
    for (form, path), width, theme in product(pages.items(), kinds.widths, kinds.themes):
        if form == "interactive" and not view.kind:
            continue
        page = browser.new_page(viewport={"width": width, "height": 2_400}, color_scheme=theme)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(path.as_uri())
        page.add_style_tag(content="body{background:Canvas}")
        frame = page.locator("#view .frame" if form == "interactive" else "body").first
        frame.wait_for()
        seconds = _main_thread_seconds(session)
        picture = path.with_name(f"{path.stem}-{width}-{theme}.png")
        found = list(_found(frame))
        frame.screenshot(path=picture, animations="disabled")
        page.close()
        yield Picture(path=picture, found=found, draw_seconds=seconds)


def _found(frame: Locator) -> Iterator[str]:
    yield from frame.evaluate(LOOK)
    yield from frame.evaluate(TEXTS)
    for text in contrasts(frame):
        if text.ratio < LEAST:
            yield f"contrast {text.ratio:.2f}: {text.text}"


def _main_thread_seconds(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def sheets(
    browser: Browser, paths: Sequence[Path], target: Path, *, columns: int, most: int
) -> Iterator[Path]:
    """Put pictures beside each other, so many on a sheet.

    Parameters
    ----------
    browser
        Draws the sheets.
    paths
        Pictures.
    target
        Names the sheets: a number is added.
    columns
        Pictures beside each other.
    most
        Pictures of one sheet.
    """
    for number, first in enumerate(range(0, len(paths), most), 1):
        some = "".join(
            f"<figure><figcaption>{path.stem}</figcaption><img src='{path.as_uri()}'></figure>"
            for path in paths[first : first + most]
        )
        html = target.with_name(f"{target.name}-{number}.html")
        html.write_text(
            f"<!doctype html><style>body{{columns:{columns};gap:8px;margin:4px}}"
            "figcaption{font:bold 18px sans-serif}"
            "figure{margin:0 0 8px;break-inside:avoid}img{max-width:100%;border:1px solid red}"
            "</style>" + some,
            encoding="utf-8",
        )
        page = browser.new_page(viewport={"width": 1560, "height": 400})
        page.goto(html.as_uri(), wait_until="load")
        page.screenshot(path=html.with_suffix(".png"), full_page=True)
        page.close()
        html.unlink()
        yield html.with_suffix(".png")
