"""What views look like where no script runs: on GitHub, in mails, in other notebooks."""

from __future__ import annotations

import base64
import html
import itertools
import re
from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import expect

from paimonlab.notebook.display.fitting import PAGE
from paimonlab.notebook.display.page import page as page_text
from tests.browser.conftest import Pages
from tests.browser.contrast import LEAST, contrasts
from tests.browser.test_every_view import LOOK, NARROW
from tools.looks.shown import VIEWS, shown
from tools.looks.tables import MakeTable, empty, small

WHEN = re.compile(r",? (\d+ \w+ ago|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC)")


@pytest.mark.parametrize("made", [small, empty], ids=["small", "empty"])
def test_static_forms_follow_the_design_language(
    made: MakeTable, pages: Pages, tmp_path: Path
) -> None:
    """No squeezed column, no tall row, no number at the left, no heads of nothing, no scrolling."""
    found = {}
    with pages.page(viewport=NARROW) as page:
        for name, view, _ in shown(made(tmp_path / "table"), list(VIEWS)):
            page.set_content(page_text(name, view.to_html(), None))
            found[name] = page.locator("body").evaluate(LOOK)

    found.pop("result", None)  # heads of an empty result say what its columns are
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_both_forms_say_the_same_headline(pages: Pages, tmp_path: Path) -> None:
    """But for how long ago it was, where the form that is kept says when."""
    found = {}
    with pages.page(viewport=NARROW) as page:
        for name, view, _ in shown(small(tmp_path), list(VIEWS)):
            if view.kind is None:
                continue
            path = tmp_path / f"{name}.html"
            path.write_text(page_text(name, view.to_html(), view.data()), encoding="utf-8")
            page.goto(path.as_uri())
            headline, kept = page.locator(".headline"), view.grid.headline
            found[name] = (headline.inner_text() if headline.count() else "", kept)
            assert not kept or kept[:9] in html.unescape(view.to_html()).replace("\u00a0", " "), (
                name
            )

    assert len(found) > 15
    for name, (drawn, kept) in found.items():
        assert WHEN.sub("", drawn.replace("\u00a0", " ")) == WHEN.sub("", kept), name


NOTHING_TO_SHOW = ["timeline", "watch", "log", "manifests", "heatmap", "files", "lsm", "compaction"]


def test_views_of_a_table_without_rows_say_what_makes_the_first(
    pages: Pages, tmp_path: Path
) -> None:
    found = {}
    with pages.page(viewport=NARROW) as page:
        for name, view, _ in shown(empty(tmp_path / "table"), NOTHING_TO_SHOW):
            path = tmp_path / f"{name}.html"
            path.write_text(page_text(name, view.to_html(), view.data()), encoding="utf-8")
            page.goto(path.as_uri())
            expect(page.locator(".empty code")).to_have_text("INSERT INTO db.empty VALUES …")
            assert "INSERT INTO db.empty VALUES …" in html.unescape(view.to_html())
            found[name] = page.locator("#view .frame").evaluate(LOOK)

    assert found == {name: [] for name in NOTHING_TO_SHOW}


def test_letters_of_pictures_keep_their_size_on_a_narrow_page(tmp_path: Path) -> None:
    for name, view, _ in shown(small(tmp_path), ["simulator", "travel", "profile"]):
        (width,) = re.findall(r'<img [^>]*width="(\d+)"', view.to_html())
        assert int(width) <= PAGE, name


GROUNDS = {
    "VS Code, dark": ("#1f1f1f", "#cccccc"),
    "VS Code, light": ("#ffffff", "#3b3b3b"),
    "Colab, dark": ("#383838", "#d5d5d5"),
    "Colab, light": ("#ffffff", "#1f1f1f"),
}
"""Of outputs and their texts in the themes that come with these."""


def test_texts_can_be_read_in_frames_of_other_front_ends(pages: Pages, tmp_path: Path) -> None:
    """In a frame where no script runs, whatever the system prefers: their themes are their own."""
    drawn = list(shown(small(tmp_path), ["timeline"]))
    found = []
    for (front_end, (ground, ink)), (name, view, _) in itertools.product(GROUNDS.items(), drawn):
        scheme = "light" if "dark" in front_end else "dark"
        style = f"<body style='background:{ground};color:{ink};font-family:sans-serif'>"
        with pages.page(viewport=NARROW, color_scheme=scheme) as page:
            page.set_content("<iframe sandbox width=580 height=2000></iframe>")
            page.locator("iframe").evaluate("(f, text) => f.srcdoc = text", style + view.to_html())
            body = page.frame_locator("iframe").locator("body")
            expect(body.locator("table").first).to_be_visible()
            found += [f"{front_end}, {name}: {one}" for one in contrasts(body) if one.ratio < LEAST]
            expect(body.locator("script")).to_have_count(0)

    assert found == []


MIDDLE_TONE = """async (image) => {
  const picture = new Image();
  picture.src = image;
  await picture.decode();
  const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  canvas.drawImage(picture, 0, 0);
  const { data } = canvas.getImageData(0, 0, picture.width, picture.height);
  const sums = [];
  for (let at = 0; at < data.length; at += 4) sums.push(data[at] + data[at + 1] + data[at + 2]);
  return sums.sort((one, two) => one - two)[sums.length >> 1] / 3;
}"""


def test_pictures_follow_the_theme_of_the_page(pages: Pages, tmp_path: Path) -> None:
    """Most of each is its ground."""
    drawn = list(shown(small(tmp_path), ["timeline", "lsm", "files", "travel", "profile"]))
    for scheme in ("light", "dark"):
        with pages.page(viewport=NARROW, color_scheme=scheme) as page:
            for name, view, _ in drawn:
                page.set_content(page_text(name, view.to_html(), None))
                image = base64.b64encode(page.locator("img").first.screenshot()).decode()
                tone = page.evaluate(MIDDLE_TONE, f"data:image/png;base64,{image}")
                assert (tone > 200) if scheme == "light" else (tone < 60), name


def test_a_table_without_partitions_or_levels_has_no_words_for_them(
    pages: Pages, tmp_path: Path
) -> None:
    """Nor a choice where there is one thing to choose."""
    table = empty(tmp_path / "table")
    table.write(pa.table({"id": [1], "v": ["a"]}))
    table = table.refresh()
    found = {}
    with pages.page(viewport=NARROW) as page:
        for name, view, _ in shown(table, ["heatmap", "files", "watch", "schemas", "file"]):
            path = tmp_path / f"{name}.html"
            path.write_text(page_text(name, view.to_html(), view.data()), encoding="utf-8")
            page.goto(path.as_uri())
            found[name] = page.locator("#view .frame").inner_text() + view.to_text()
            assert page.get_by_role("combobox", name="part of the file").count() == 0

    for name in ("heatmap", "files"):
        assert "1 partition" not in found[name]
        assert "1 bucket" in found[name]
    assert "level" not in found["watch"]
    assert "whole schema" not in found["schemas"]
    assert "\u2026-0.parquet" in found["file"]
