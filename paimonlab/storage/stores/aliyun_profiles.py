"""Keys that the Aliyun command line keeps in a file of the user's."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paimonlab.errors import UnsupportedError

_FILE = "~/.aliyun/config.json"
_KEY_MODES = ("AK", "StsToken")


def profile() -> Mapping[str, str]:
    """Return what the file says of the profile that is in use.

    ``ALIBABA_CLOUD_PROFILE`` names it, or the file itself.

    Returns
    -------
    Mapping of str to str
        ``access_key_id``, ``access_key_secret``, ``sts_token``; empty if there is no such file.

    Raises
    ------
    ValueError
        If there is no such profile, or the file is damaged.
    UnsupportedError
        If its keys come from elsewhere.
    """
    path = Path(os.environ.get("ALIBABA_CLOUD_CONFIG_FILE") or _FILE).expanduser()
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        profiles = {str(one["name"]): one for one in document["profiles"]}
        name = os.environ.get("ALIBABA_CLOUD_PROFILE") or str(document.get("current") or "default")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        # Its message may quote the file, keys among it.
        raise ValueError(f"{path} is not a file of Aliyun profiles") from None
    if name not in profiles:
        raise ValueError(f"{path} has no profile {name!r}")
    found = profiles[name]
    if found.get("mode") not in _KEY_MODES:
        raise UnsupportedError(
            f"mode {found.get('mode')!r} of the Aliyun profile {name!r}",
            "put its keys into the environment: OSS_ACCESS_KEY_ID, OSS_ACCESS_KEY_SECRET",
        )
    return {key: text for key, text in found.items() if isinstance(text, str)}
