"""Show methods in the reference as they are called: without the object they belong to.

The methods of a table are functions of other modules, whose first parameter is the table.
mkdocstrings loads this, as zensical.toml says.
"""

from __future__ import annotations

import copy
import inspect
import re
import types
from pathlib import Path
from typing import Any

import griffe

_INSIDE = re.compile(
    r"(analysis|cli|commit|compact|datafile|formats|merge|metadata|procedures|read|server|sql_engine"
    r"|write|catalog\.(hive|jdbc|rest|rest_server)|ingest\.(formats\.(?!registry)\w+|spark)"
    r"|spec\.(iceberg|sql_text)|spark\.(?!sessions)\w+|notebook\.(cell|completion|display|kernel|magics)"
    r"|notebook\.results\.(?!plotting)\w+|notebook\.running\.(?!execution)\w+"
    r"|notebook\.views\.\w+\.(?!command)\w+)(\.|$)"
)
"""Modules that pages name nothing of. If one does, the build ends with an error that names it."""

_load_submodule = griffe.GriffeLoader._load_submodule  # noqa: SLF001 - nothing public leaves any out


def _load_what_pages_name(
    loader: griffe.GriffeLoader, module: griffe.Module, subparts: tuple[str, ...], subpath: Path
) -> None:
    """Leave the others out: to inspect each of their objects takes longer than all the rest."""
    if module.path != "paimonlab" or not _INSIDE.match(".".join(subparts)):
        _load_submodule(loader, module, subparts, subpath)


setattr(griffe.GriffeLoader, _load_submodule.__name__, _load_what_pages_name)


_line_numbers = griffe.Inspector._get_linenos  # noqa: SLF001 - it reads files again and again


def _quick_line_numbers(
    inspector: griffe.Inspector, node: griffe.ObjectNode
) -> tuple[int, int] | tuple[None, None]:
    """Ask code where it begins, for the order; the end is for sources, which no page shows."""
    inside = vars(node.obj).values() if inspect.isclass(node.obj) else [inspect.unwrap(node.obj)]
    codes = (getattr(one, "__code__", None) for one in inside)
    file = str(inspector.filepath)
    lines = [
        code.co_firstlineno
        for code in codes
        if isinstance(code, types.CodeType) and code.co_filename == file
    ]
    return (min(lines), min(lines)) if lines else _line_numbers(inspector, node)


setattr(griffe.Inspector, _line_numbers.__name__, _quick_line_numbers)


_ALIAS_TARGET = "alias_target_path"
_alias_target = getattr(griffe.ObjectNode, _ALIAS_TARGET)


def _alias_target_of_others(node: griffe.ObjectNode) -> str | None:
    """Keep constructors in their classes: errors say that they are of the package, not of its part.

    griffe would look for each constructor in the package, and there in its part, and so on; then it
    knows no parameters.
    """
    parent = node.parent
    is_own = node.name == "__init__" and parent is not None and node.name in vars(parent.obj)
    return None if is_own else _alias_target.__get__(node)


setattr(griffe.ObjectNode, _ALIAS_TARGET, property(_alias_target_of_others))


class SiteMethods(griffe.Extension):
    """Give classes copies of the functions that are their methods, without the first parameter."""

    def on_package(self, *, pkg: griffe.Module, **_others: Any) -> None:
        """Look through the classes of a package, all of whose parts are known now."""
        _enter(pkg)


def _enter(outer: griffe.Module | griffe.Class) -> None:
    for name, member in list(outer.members.items()):
        if isinstance(member, griffe.Alias):
            if isinstance(outer, griffe.Class):
                _adopt(outer, name, member)
        elif isinstance(member, griffe.Module | griffe.Class):
            _enter(member)


def _adopt(owner: griffe.Class, name: str, alias: griffe.Alias) -> None:
    try:
        function = alias.final_target
    except griffe.CyclicAliasError:
        owner.del_member(name)  # of a class of Python itself
        return
    except griffe.AliasResolutionError:
        return  # of another package
    if isinstance(function, griffe.Function) and "table" in function.parameters:
        method = copy.copy(function)
        method.parameters = griffe.Parameters(
            *(parameter for parameter in function.parameters if parameter.name != "table")
        )
        owner.set_member(name, method)
