"""Modules and names of a package that are imported when they are used first.

For start-up time alone: who opens a catalog does not wait for the import of what merges rows. A
package says what of it is used this way, its callers import the package on top:

>>> from paimonlab.table import reading
>>> reading.query.Query.__name__
'Query'
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

_layers: dict[str, str] = {}
"""By what objects of lower layers get of it, the module that gives it to them."""


def give_from_above(**modules: str) -> None:
    """Say what objects get of a layer above them, and by which module: ``show="….accessor"``.

    The package says it of its layers; those below do not know their names. The module is imported
    when the attribute is asked for.
    """
    _layers.update(modules)


def names_from_above() -> tuple[str, ...]:
    """Return the names that layers above would give."""
    return tuple(_layers)


def load_from_above(name: str) -> bool:
    """Import the module that gives objects an attribute; tell whether there is one."""
    if name not in _layers:
        return False
    importlib.import_module(_layers[name])
    return True


def attributes_on_use(
    package: str, *modules: str, **names: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package: attributes imported when asked for.

    For type checkers, which do not see them, the package imports the same ones under
    ``TYPE_CHECKING``.

    Parameters
    ----------
    package
        ``__name__`` of the package.
    modules
        Names of its modules.
    **names
        By name of what a module defines, that module's name within the package. A name must not
        be the name of a module of the package: importing that module would take its place.

    Returns
    -------
    tuple
        ``__getattr__``, which raises AttributeError for any other name, and ``__dir__``.
    """

    def attribute(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name in names:
            return getattr(importlib.import_module(f"{package}.{names[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)

    def attributes() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules, *names})

    return attribute, attributes
