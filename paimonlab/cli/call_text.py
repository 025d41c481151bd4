"""A call of a procedure in a shell: ``sys.compact(table => 'db.t')``, literals only."""

from __future__ import annotations

import re

from paimonlab.errors import habits
from paimonlab.spec.sql_text import call_syntax
from paimonlab.spec.sql_text.call_syntax import Call, CallSyntaxError
from paimonlab.spec.sql_text.tokens import Span, line_and_column, tokenize

_NAMESPACE = "sys"


def parse_call(text: str) -> Call:
    """Read a call in Spark's SQL, with or without CALL in front.

    Raises
    ------
    ValueError
        If it is something else, or a value is not a literal; the message shows where.

    Examples
    --------
    >>> found = parse_call("CALL sys.create_tag('db.t', tag => 'x', snapshot => 3)")
    >>> found.procedure, found.positional, found.named
    ('create_tag', ('db.t',), (('tag', 'x'), ('snapshot', 3)))
    """
    tokens = tokenize(text)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    try:
        call = call_syntax.parse_call(tokens)
    except CallSyntaxError as error:
        raise _wrong(text, str(error), error.span) from error
    if [part.lower() for part in call.name[:-1]] != [_NAMESPACE]:
        problem = (
            f"{'.'.join(call.name)} is not a procedure; those of Paimon are in sys. "
            f"Write sys.{habits.procedure(call.name[-1])}"
        )
        raise _wrong(text, problem, call.name_span)
    return call


def _wrong(text: str, problem: str, span: Span) -> ValueError:
    return ValueError(
        f"{problem}\n{_pointed_at(text, span)}\n"
        "This is not a call; write it as sys.compact(table => 'db.t')."
    )


def _pointed_at(text: str, span: Span) -> str:
    """Return the line that a piece of a text begins in, with carets below the piece."""
    number, column = line_and_column(text, span.start)
    line = text.split("\n")[number - 1]
    before = re.sub(r"[^\t]", " ", line[:column])
    carets = "^" * max(min(span.end - span.start, len(line) - column), 1)
    return f"  {line}\n  {before}{carets}"
