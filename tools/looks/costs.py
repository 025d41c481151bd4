"""What a view takes before a browser sees it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paimonlab.notebook.display.drawn import Drawn

MOST_BYTES = 500_000
MOST_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one took."""

    seconds: float
    """Time of a core, from the call to HTML and data.

    The first view of a process loads modules. With ``PYTHONDONTWRITEBYTECODE`` each start compiles
    them, which an installed package does once: 0.9 s of the 1.9 s of ``row`` on the large table.
    """
    html_bytes: int
    data_bytes: int

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s, html {self.html_bytes:,}, data {self.data_bytes:,}"

    @property
    def is_over(self) -> bool:
        """Whether it is more than a view may take."""
        most = max(self.html_bytes, self.data_bytes)
        return self.seconds > MOST_SECONDS or most > MOST_BYTES


def measured_view(make: Callable[[], Drawn[Any]]) -> tuple[Drawn[Any], Cost]:
    """Make a view and measure it."""
    start = time.process_time()
    view = make()
    html = view.to_html()
    data = json.dumps(view.data()) if view.kind else ""
    seconds = time.process_time() - start
    return view, Cost(seconds=seconds, html_bytes=len(html.encode()), data_bytes=len(data))
