"""Views that are drawn again while something goes on."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

import msgspec

from paimonlab.notebook.display.drawn import Drawn

StructT = TypeVar("StructT", bound=msgspec.Struct)


class ShowView(Protocol[StructT]):
    """Draws a view of something that goes on."""

    def __call__(self, view: Drawn[StructT], *, is_update: bool) -> None:
        """Draw it, at first or in place of what was drawn before."""


class InKernel(Generic[StructT]):
    """Draws a view where a kernel's display is updated.

    Parameters
    ----------
    name
        Of the kind of view.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def show(self, view: Drawn[StructT], *, is_update: bool) -> None:
        """Draw it, at first or in place of what was drawn before."""
        from IPython.display import display  # noqa: PLC0415 - IPython is optional

        display(view, display_id=f"paimonlab-{self._name}-{view.id}", update=is_update)


def is_in_kernel() -> bool:
    """Whether this process has a display that can be updated."""
    try:
        from IPython.core.getipython import get_ipython  # noqa: PLC0415 - IPython is optional
    except ImportError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None
