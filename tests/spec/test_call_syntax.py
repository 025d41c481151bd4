"""Calls of procedures, read from tokens."""

from __future__ import annotations

import pytest

from paimonlab.spec.sql_text.call_syntax import CallSyntaxError, Placeholder, parse_call
from paimonlab.spec.sql_text.tokens import tokenize
from tests.support import cases


@pytest.mark.parametrize(("title", "text", "wanted"), cases("call_syntax"))
def test_what_a_call_says(title: str, text: str, wanted: str) -> None:
    try:
        call = parse_call(tokenize(text))
    except CallSyntaxError as error:
        told = f"{error} @{text[error.span.start : error.span.end]}"
    else:
        told = f"{'.'.join(call.name)} {call.positional} {call.named}"
    assert told.strip() == wanted, title


def test_parameters_keep_their_places() -> None:
    call = parse_call(tokenize("p(?, a => :n)"), has_parameters=True)

    assert call.positional == (Placeholder(None),)
    assert call.named == (("a", Placeholder("n")),)
