"""Messages of Kafka as the parsers of Paimon's own actions read them, in a JVM.

``python -m tests.ingest.java.messages`` asks them again about the messages that are in
``cases/kafka_messages.jsonl``, and writes down what they say.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.ingest.formats.java_samples import FILE, Sample, samples
from tests.interop.java_build import JavaTools, program_class_path

_SOURCE = Path(__file__).with_name("Messages.java")


def said_by_java(tools: JavaTools, messages: Sequence[Sample]) -> list[Any]:
    """Return what Paimon's parsers make of messages: records, or the name of an error."""
    lines = "".join(f"{one.format} {_coded(one.key)} {_coded(one.value)}\n" for one in messages)
    command = [tools.java, "-Xmx300m", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC"]
    command += ["-cp", program_class_path(tools, _SOURCE), "Messages"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    told = [line for line in done.stdout.splitlines() if line.startswith("> ")]
    assert len(told) == len(messages), done.stderr[-2000:]
    return [json.loads(line.removeprefix("> ")) for line in told]


def _coded(text: str | None) -> str:
    return "-" if text is None else base64.b64encode(text.encode()).decode()


def main() -> None:
    """Write down what they say."""
    found = samples()
    told = said_by_java(JavaTools.find(), found)
    lines = [
        json.dumps(
            {"format": one.format, "key": one.key, "value": one.value, "java": java},
            ensure_ascii=False,
        )
        for one, java in zip(found, told, strict=True)
    ]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
