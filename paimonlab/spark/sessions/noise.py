"""What PySpark prints into the user's cell."""

from __future__ import annotations

import logging
import warnings


def quiet() -> None:
    """Drop what would be printed into the user's cell beside the error itself."""
    logging.getLogger("SQLQueryContextLogger").disabled = True
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")
