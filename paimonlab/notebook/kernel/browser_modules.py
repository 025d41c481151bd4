"""The modules that draw views in a browser, put together from ``module.js`` of each view.

A module is one text without imports, as widgets and pages of their own need it: what the view
imports, then the view, then the host. Comments, indents and most spaces of style sheets and of
lines without texts are left out. None is larger than 40 kB.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Iterable, Iterator
from importlib import resources
from importlib.resources.abc import Traversable

SHARED = "display/browser/parts"
"""The module that says in which file each shared name is, and the folder of those files."""

_IMPORT = re.compile(r'^import\s+\{([^}]*)\}\s+from\s+"([^"]+)";\n', re.MULTILINE)
_REEXPORT = re.compile(r'^export\s+\{([^}]*)\}\s+from\s+"([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)
# No string of ours contains the beginning of a comment.
_COMMENT = re.compile(r"/\*\*.*?\*/[ \t]*\n?|^[ \t]*//[^\n]*\n", re.MULTILINE | re.DOTALL)
# Our texts of several lines do not need it: they are style sheets.
_INDENT = re.compile(r"^(?: +|\n)", re.MULTILINE)
_STYLE_SHEET = re.compile(r"(`\n[^`]*`)")
_SPACE_OF_STYLES = re.compile(r"(\$\{[^}]*\})|(?:;\s*)?(?:\s*([{};,]))\s*|(?<=:)\s+")
# In a line without a quote, a backtick or a slash everything is code: no text, no pattern.
_LINE_OF_CODE = re.compile(r"^[^\n\"'`/]+$", re.MULTILINE)
_SPACE_OF_CODE = re.compile(r" ?(=>|[=!]==|[<>]=|&&|\|\||\?\?|[=,;:?(){}\[\]<>*]) ?")
# Neither scripts nor style sheets need the semicolon before a bracket that closes.
_LAST = "; }"
PAGE = "display/browser/page"
"""The module that draws a view in a page of its own."""
_WIDGET = "display/browser/widget"
_VIEWS = "views"
_ELSEWHERE = {"result": "results/table"}
"""Folders of views that are not in the folder of all views."""


def kinds() -> tuple[str, ...]:
    """Return the views that have a module, in order of their names."""
    folders = (folder for folder in _notebook().joinpath(_VIEWS).iterdir() if folder.is_dir())
    names = {folder.name for folder in folders if folder.joinpath("module.js").is_file()}
    return tuple(sorted(names | _ELSEWHERE.keys()))


def module_of(kind: str) -> str:
    """Return the name of the module that draws a kind of view."""
    return f"{_ELSEWHERE.get(kind, f'{_VIEWS}/{kind}')}/module"


def view_module(kind: str) -> str:
    """Return a module that exports ``render`` and ``pageHost``."""
    parts = _together([*needed(kind), PAGE, module_of(kind)])
    return f"{parts}\nexport {{ render, pageHost }};\n"


def widget_module(kind: str) -> str:
    """Return a module as anywidget wants it."""
    return _together([*needed(kind), PAGE, module_of(kind), _WIDGET])


def needed(kind: str) -> tuple[str, ...]:
    """Return the modules that a view imports, directly or not, each once and after its own.

    The view's own modules are in its folder, those of all views in `SHARED`.
    """
    modules: dict[str, None] = {}

    def visit(importer: str) -> None:
        for imported in _imports(importer):
            if imported not in modules:
                visit(imported)
                modules[imported] = None

    visit(module_of(kind))
    return tuple(modules)


def is_shared(name: str) -> bool:
    """Tell whether a module is for all views."""
    return name.startswith(f"{SHARED}/")


def shared() -> tuple[str, ...]:
    """Return the modules for all views, each after those that it imports."""
    every = [name for kind in kinds() for name in needed(kind) if is_shared(name)]
    return tuple(dict.fromkeys(every))


@functools.cache
def text(name: str) -> str:
    """Return a file of the notebook as it is."""
    return _notebook().joinpath(name).read_text(encoding="utf-8")


def bare(name: str) -> str:
    """Return a module without its imports, exports and comments."""
    return without_comments(without_imports(text(f"{name}.js")))


def without_imports(source: str) -> str:
    r"""Remove imports and exports from a module, so that several can be in one text.

    Examples
    --------
    >>> without_imports('import { h } from "./parts.js";\nexport const a = h();\n')
    'const a = h();\n'
    """
    return _EXPORT.sub("", _IMPORT.sub("", source))


def without_comments(source: str) -> str:
    """Remove comments: those for types, and those that are alone on their lines."""
    return _COMMENT.sub("", source)


def _imports(name: str) -> Iterator[str]:
    """Yield the modules that one imports from, in order of its lines and of the names there."""
    for names, path in _IMPORT.findall(text(f"{name}.js")):
        imported = _resolved(name, path)
        if imported == SHARED:
            yield from (_places()[imported_name] for imported_name in _names(names))
        else:
            yield imported


@functools.cache
def _places() -> dict[str, str]:
    """Return the file of each shared name."""
    lines = _REEXPORT.findall(text(f"{SHARED}.js"))
    return {name: _resolved(SHARED, path) for names, path in lines for name in _names(names)}


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _resolved(importer: str, path: str) -> str:
    joined = posixpath.join(posixpath.dirname(importer), path)
    return posixpath.normpath(joined).removesuffix(".js")


def _together(names: Iterable[str]) -> str:
    parts = _STYLE_SHEET.split("\n".join(map(bare, names)))
    return "".join(_sheet(part) if at % 2 else _code(part) for at, part in enumerate(parts))


def _sheet(text: str) -> str:
    """Leave spaces out of a style sheet that it does not need."""
    short = _SPACE_OF_STYLES.sub(lambda found: found[1] or found[2] or "", text)
    return _INDENT.sub("", short).replace(_LAST, " }")


def _code(text: str) -> str:
    """Leave indents out, and the spaces of lines without texts."""
    lines = _INDENT.sub("", text).replace(_LAST, " }")
    return _LINE_OF_CODE.sub(lambda line: _SPACE_OF_CODE.sub(r"\1", line[0]), lines)


def _notebook() -> Traversable:
    return resources.files("paimonlab.notebook")
