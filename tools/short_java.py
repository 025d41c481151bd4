"""Options of JVMs that do many short works, as those of tests do: starting fast is all.

The better of Java's two compilers takes more time than it saves in a whole part of the tests.
"""

from __future__ import annotations

import os

OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


def let_spark_have_them() -> None:
    """Give them to Spark sessions built from here on, here and in processes started from here."""
    options = " ".join(OPTIONS)
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-java-options '{options}' pyspark-shell"
