"""What is read from the text of an answer."""

from __future__ import annotations

import pytest
from obstore import exceptions

from paimonlab.storage.stores.answers import has_no_conditions

_KEY = "http://127.0.0.1:5010/b/.paimonlab-probe-63f4501-NotImplemented"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"PUT {_KEY} failed: status code: 501 Not Implemented", True),
        (f"PUT {_KEY} failed: status code: 400: <Code>NotImplemented</Code>", True),
        (f"PUT {_KEY} failed: status code: 503 Service Unavailable", False),
        (f"PUT {_KEY} failed: status code: 412: <Code>PreconditionFailed</Code>", False),
        (f"PUT {_KEY} failed: kind: Connect", False),
    ],
)
def test_only_status_and_code_say_that_conditions_are_unknown(text: str, expected: bool) -> None:
    assert has_no_conditions(exceptions.GenericError(text)) is expected
