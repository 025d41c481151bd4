"""Who commits: a user that was never used before."""

from __future__ import annotations

import uuid

from paimonlab.spec.options.table_options import Options, OptionSlice, option_field


class UserOptions(OptionSlice):
    """The table option that names commit users."""

    prefix: str | None = option_field("commit.user-prefix", "string", None)
    """``commit.user-prefix``"""


def new_user(options: Options) -> str:
    """Make up a commit user that was never used before."""
    prefix = options.slice(UserOptions).prefix
    return f"{prefix}_{uuid.uuid4()}" if prefix else str(uuid.uuid4())
