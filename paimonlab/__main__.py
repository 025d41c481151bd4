"""``python -m paimonlab`` is the command line."""

from __future__ import annotations

from paimonlab.cli.main import main

if __name__ == "__main__":
    main(prog_name="paimonlab")
