"""Build the prebuilt JupyterLab extension from plain modules; no Node is needed.

``make labextension`` writes ``paimonlab/labextension``; a test compares. The wheel installs that
folder where JupyterLab looks for extensions.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from paimonlab.notebook.kernel import browser_modules

NAME = "jupyterlab-paimonlab"
ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "extensions" / NAME
TARGET = ROOT / "paimonlab" / "labextension"

_KEPT = ("name", "version", "description", "license", "jupyterlab")
_MODULES = (
    *("state", "mime", "kernels", "progress", "completion", "sql_tokens", "highlight"),
    *("panel_server", "panel_tree", "panel_forms", "panel_details", "panel_style", "panel"),
    *("panel_plugin", "plugin", "entry"),
)
_HEAD = "// Written by tools/labextension.py; change the modules it is made of instead.\n"


def files() -> dict[str, str]:
    """Return the text of each file of the extension by its path."""
    source = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
    package = {name: source[name] for name in _KEPT}
    load = "static/remoteEntry.js"
    package["jupyterlab"]["_build"] = {
        "load": load,
        "extension": "./extension",
        "mimeExtension": "./mimeExtension",
    }
    schema = (SOURCE / "schema" / "plugin.json").read_text(encoding="utf-8")
    installed = {"packageManager": "python", "packageName": "paimonlab"}
    return {
        "install.json": _json(installed),
        "package.json": _json(package),
        f"schemas/{NAME}/package.json.orig": _json(package),
        f"schemas/{NAME}/plugin.json": schema,
        load: _entry(),
    }


def write(target: Path = TARGET) -> None:
    """Write the extension; files of an earlier build go."""
    shutil.rmtree(target, ignore_errors=True)
    for name, text in files().items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def written(target: Path = TARGET) -> Mapping[str, str]:
    """Return what is there now, as `files` does."""
    found = (path for path in target.rglob("*") if path.is_file())
    return {str(path.relative_to(target)): path.read_text(encoding="utf-8") for path in found}


def _entry() -> str:
    """Put the script together: each view has a scope of its own, all see what they share."""
    views = ",\n".join(f"{json.dumps(kind)}: {_view(kind)}" for kind in browser_modules.kinds())
    parts = [
        browser_modules.bare(name) for name in (*browser_modules.shared(), browser_modules.PAGE)
    ]
    parts += [f"const VIEWS = {{\n{views}\n}};"]
    parts += [_module(name) for name in _MODULES]
    return _HEAD + "(() => {\n" + "\n".join(parts) + "\n})();\n"


def _view(kind: str) -> str:
    names = [name for name in browser_modules.needed(kind) if not browser_modules.is_shared(name)]
    text = "\n".join(map(browser_modules.bare, [*names, browser_modules.module_of(kind)]))
    return f"(() => {{\n{text}\nreturn render;\n}})()"


def _module(name: str) -> str:
    source = (SOURCE / "src" / f"{name}.js").read_text(encoding="utf-8")
    return browser_modules.without_comments(browser_modules.without_imports(source))


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


if __name__ == "__main__":
    write()
    sys.stdout.write(f"{TARGET.relative_to(ROOT)} written\n")
