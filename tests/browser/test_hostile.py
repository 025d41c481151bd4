"""Three hundred hostile texts through every module that draws: nothing runs or is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from paimonlab.notebook import modules
from paimonlab.notebook.display.drawn import Drawn
from tests.browser.conftest import watched_page
from tests.notebook.hostile import strings
from tests.notebook.hostile_views import VIEWS, hostiles, shown_views

WIDTH = 800
DRAW = """
async ([source, all, width]) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { render, pageHost } = await import(address);
  const found = [];
  for (const data of all) {
    const el = document.createElement("div");
    el.style.width = `${width}px`;
    document.body.replaceChildren(el);
    const stop = render({ data, el, host: pageHost(data, { el }) });
    const foreign = "script, iframe, img, link, object, embed, meta, base, a[href^=javascript]";
    found.push([el.shadowRoot.querySelectorAll(foreign).length, el.getBoundingClientRect().width]);
    stop?.();
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawn[Any]]:
    return shown_views(tmp_path_factory.mktemp("warehouse"))


@pytest.mark.parametrize("kind", VIEWS)
def test_hostile_texts_do_nothing(
    kind: str, shown: dict[str, Drawn[Any]], browser: Browser
) -> None:
    data = [drawn.data() for drawn in hostiles(shown[kind], strings())]

    with watched_page(browser) as page:
        drawn = page.evaluate(DRAW, [modules.view_module(kind), data, WIDTH])

    assert drawn == [[0, WIDTH]] * len(data)
