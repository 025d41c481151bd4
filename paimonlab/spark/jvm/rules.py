"""Rules of Spark's that sessions get when they are built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge


def same_rule(bridge: Bridge, rule: Any) -> Any:
    """Make a Scala function that gives a rule to each session that asks for it.

    Spark asks in each statement. A map without keys but with a default is such a function, which
    need not ask Python.
    """
    return bridge.scala_map().withDefaultValue(rule)


def add_analyzer_rule(
    bridge: Bridge, name: str, make: Callable[[], Any], *, is_first: bool = False
) -> None:
    """Let the analyzer of the session, its clones and sessions beside it follow one more rule.

    Parameters
    ----------
    bridge
        The session.
    name
        How the name of the rule ends; a session that has such a rule gets no other.
    make
        Makes the rule.
    is_first
        Whether it is for plans that nothing is resolved of yet; else for resolved ones.
    """
    analyzer, extensions = bridge.session.sessionState().analyzer(), bridge.session.extensions()
    kept = "hintResolutionRules" if is_first else "postHocResolutionRules"
    field = analyzer.getClass().getDeclaredField(kept)
    field.setAccessible(True)
    present = field.get(analyzer)
    as_java = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava
    if any(str(rule.ruleName()).endswith(name) for rule in as_java(present)):
        return
    rule = make()
    field.set(analyzer, present.appended(rule))
    if is_first:
        extensions.injectHintResolutionRule(same_rule(bridge, rule))
    else:
        extensions.injectPostHocResolutionRule(same_rule(bridge, rule))
