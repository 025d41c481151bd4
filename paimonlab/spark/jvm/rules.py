"""Rules of Spark's that sessions get when they are built."""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy


class SameRule(Proxy):
    """Gives a rule to each session that asks for it."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, rule: Any) -> None:
        super().__init__(bridge)
        self._rule = rule

    def apply(self, session: Any) -> Any:
        """Return the rule."""
        del session
        return self._rule
