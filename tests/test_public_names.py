"""What users import, call and pass stays: ``cases/public_names.txt`` lists it.

``python -m tests.test_public_names`` writes the list anew; what goes from it belongs into the
changelog.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paimonlab

MADE_HERE = ("Changes", "Scan", "Table")
"""Classes that users are given, so that what makes them may change."""
LIST = Path(__file__).parent / "cases" / "public_names.txt"


def _names() -> Iterator[str]:
    for name in sorted(paimonlab.__all__):
        public = getattr(paimonlab, name)
        yield name if name in MADE_HERE else _shown(name, public)
        if inspect.isclass(public):
            for attribute in sorted(dir(public)):
                if not attribute.startswith("_") and not _is_inherited(public, attribute):
                    yield _shown(f"{name}.{attribute}", getattr(public, attribute))


def _is_inherited(owner: type, name: str) -> bool:
    """Whether a name comes from Python's own classes."""
    definer = next((base for base in owner.__mro__ if name in vars(base)), owner)
    return definer.__module__ == "builtins"


def _shown(name: str, public: Any) -> str:
    if not callable(public):
        return name
    try:
        signature = inspect.signature(public)
    except ValueError:
        return name
    parameters = [
        one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()
    ]
    if "." in name and inspect.isfunction(public):
        del parameters[0]  # the object
    bare = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    return f"{name}{bare}"


def test_public_names_stay() -> None:
    assert list(_names()) == LIST.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    LIST.write_text("\n".join(_names()) + "\n", encoding="utf-8")
