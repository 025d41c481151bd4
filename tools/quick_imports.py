"""Leave out of the processes of tests what takes long to import and is not used there.

As a program it runs a module without them: ``python -m tools.quick_imports jupyterlab``.
"""

from __future__ import annotations

import runpy
import sys
from typing import Any


def pass_grammars_by() -> None:
    """Let `jsonschema` check no international addresses (IRIs); no schema of Jupyter has one.

    The module that checks them makes 38 grammars when it is imported: 2.6 seconds of a core, of
    the 3 that `nbformat` takes. `jsonschema` does without it where it is not installed.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault("rfc3987_syntax", None)


if __name__ == "__main__":
    pass_grammars_by()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
