"""A page of its own: the static form, and the module that makes it interactive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from paimonlab.notebook.display.characters import escaped
from paimonlab.notebook.kernel import browser_modules

# Nothing is loaded from elsewhere, not even by a mistake in a module.
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline' data:"
)

# In a block of its own, so that its names do not clash with those of the module.
_START = """{
const data = JSON.parse(document.getElementById("data").textContent);
const el = document.getElementById("view");
render({ data, el, host: pageHost(data, { el }) });
document.getElementById("static").hidden = true;
}"""


def page(title: str, static: str, data: Mapping[str, Any] | None) -> str:
    """Return a page; without data it shows the static form only.

    Parameters
    ----------
    title
        Text; escaped here.
    static
        HTML, shown where no script runs.
    data
        As `paimonlab.notebook.display.drawn.Drawn.data` gives it.
    """
    script = ""
    if data is not None:
        module = browser_modules.view_module(data["kind"])
        script = (
            f'<script type="application/json" id="data">{_json(data)}</script>\n'
            f'<script type="module">{_script(module)}{_START}</script>\n'
        )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        "<style>:root{color-scheme:light dark}body{font:14px/1.45 system-ui,sans-serif;margin:1em}"
        "</style>\n"
        f"<title>{escaped(title)}</title></head><body>\n"
        f'<div id="view"></div>\n<div id="static">{static}</div>\n{script}</body></html>\n'
    )


def _json(data: Mapping[str, Any]) -> str:
    """Write JSON in which no HTML parser finds an end tag or a comment."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")


def _script(module: str) -> str:
    assert "</script" not in module, "a module does not end its own script"
    assert "<!--" not in module, "a module begins no comment of HTML"
    return module.replace("export { render, pageHost };", "")
