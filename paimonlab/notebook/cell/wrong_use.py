"""What IPython shows without traceback: a line that was typed wrong, and where help is."""

from __future__ import annotations

from IPython.core.error import UsageError

from paimonlab.notebook.cell.topics import Topic, help_line
from paimonlab.secrets import without_secrets


def wrong_use(text: str, topic: Topic) -> UsageError:
    """Make an error that stops the cells after it.

    Parameters
    ----------
    text
        What is wrong; secrets in it are hidden.
    topic
        The page of ``%paimon_help`` that says more.
    """
    return UsageError(f"{without_secrets(text)}\n{help_line(topic)}")
