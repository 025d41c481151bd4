"""The modules that draw views in a browser, put together from ``static``.

A module is one text without imports, as widgets and pages of their own need it: what all
share, then the view, then the host. Comments stay behind. None is larger than 40 kB.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from importlib import resources
from importlib.resources.abc import Traversable

_IMPORT = re.compile(r"^import\s.*?;\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)
# No string of ours holds the beginning of a comment.
_COMMENT = re.compile(r"/\*\*.*?\*/[ \t]*\n?|^[ \t]*//[^\n]*\n", re.MULTILINE | re.DOTALL)
_NOT_VIEWS = frozenset({"shared", "page", "widget"})


def kinds() -> tuple[str, ...]:
    """Return the views that have a module, in order of their names."""
    names = (entry.name for entry in _static().iterdir())
    found = {name.removesuffix(".js") for name in names if name.endswith(".js")}
    return tuple(sorted(found - _NOT_VIEWS))


def view_module(kind: str) -> str:
    """Return a module that exports ``render`` and ``pageHost``."""
    parts = _together(["shared", "page", kind])
    return f"{parts}\nexport {{ render, pageHost }};\n"


def widget_module(kind: str) -> str:
    """Return a module as anywidget wants it."""
    return _together(["shared", "page", kind, "widget"])


@functools.cache
def text(name: str) -> str:
    """Return a file of ``static`` as it is."""
    return _static().joinpath(name).read_text(encoding="utf-8")


def bare(name: str) -> str:
    """Return a file of ``static`` without its imports, exports and comments."""
    return _COMMENT.sub("", without_imports(text(f"{name}.js")))


def without_imports(source: str) -> str:
    r"""Take imports and exports out of a module, so that several can stand in one text.

    Examples
    --------
    >>> without_imports('import { h } from "./shared.js";\nexport const a = h();\n')
    'const a = h();\n'
    """
    return _EXPORT.sub("", _IMPORT.sub("", source))


def _together(names: Iterable[str]) -> str:
    return "\n".join(map(bare, names))


def _static() -> Traversable:
    return resources.files("paimonlab.notebook").joinpath("static")
