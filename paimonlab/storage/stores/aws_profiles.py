"""Keys and regions that the AWS command line keeps in files of the user's."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from pathlib import Path

from paimonlab.errors import UnsupportedError

_ELSEWHERE = ("credential_process", "sso_session", "sso_start_url", "role_arn")


def profile() -> Mapping[str, str]:
    """Return what files say of the profile that ``AWS_PROFILE`` names, or of the default one.

    Returns
    -------
    Mapping of str to str
        ``aws_access_key_id``, ``region`` …; empty if there is no such file.

    Raises
    ------
    ValueError
        If ``AWS_PROFILE`` names a profile that does not exist, or a file is damaged.
    UnsupportedError
        If its keys come from a program, single sign-on or another role.
    """
    name = os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE") or "default"
    config = _section("AWS_CONFIG_FILE", "config", (f"profile {name}", name))
    keys = _section("AWS_SHARED_CREDENTIALS_FILE", "credentials", (name,))
    found = {**config, **keys}
    if not found and name != "default":
        raise ValueError(f"AWS_PROFILE names the profile {name!r}, which no file has")
    if "aws_access_key_id" not in found:
        for key in _ELSEWHERE:
            if key in found:
                raise UnsupportedError(
                    f"{key} of the AWS profile {name!r}",
                    "put its keys into the environment: aws configure export-credentials",
                )
    return found


def _section(variable: str, file: str, names: tuple[str, ...]) -> Mapping[str, str]:
    path = Path(os.environ.get(variable) or f"~/.aws/{file}").expanduser()
    parser = configparser.RawConfigParser()
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    try:
        parser.read_string(text)
    except configparser.Error:
        # Its message quotes lines of the file, keys among them.
        raise ValueError(f"{path} is not a file of AWS profiles") from None
    section = next(filter(parser.has_section, names), None)
    return {} if section is None else dict(parser.items(section))
