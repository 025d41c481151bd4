from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from paimonlab.notebook.cell.magic_line import OPTIONS
from tools import labextension


def test_the_extension_is_built_from_its_modules() -> None:
    assert labextension.written() == labextension.files(), "run make labextension"


def test_building_replaces_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "old.js").write_text("")

    labextension.write(tmp_path)

    assert labextension.written(tmp_path) == labextension.files()


def test_its_script_parses() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here to parse it; the browser tests run it")

    script = labextension.TARGET / "static" / "remoteEntry.js"
    done = subprocess.run(
        [node, "--check", str(script)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_its_modules_and_those_of_the_views_keep_to_their_types() -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm here, so no TypeScript to check the modules with")
    install = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(
        install, cwd=labextension.SOURCE, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"npm could not install TypeScript: {done.stderr.strip()[-300:]}")

    checked = subprocess.run(
        [npm, "run", "--silent", "check"],
        cwd=labextension.SOURCE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout


ASKED = """
import { notebookHost } from "./mime.js";
import { channelTo } from "./plugin.js";
import { state } from "./state.js";

const open = new WeakMap();
const signal = () => ({ connect(heard) { this.emit = heard; } });
const comm = () => ({ open() {}, send() {} });
const made = [];
const kernel = { disposed: signal(), createComm: () => made[made.push(comm()) - 1] };
state.channel = () => channelTo(open, kernel);
const { ask } = notebookHost({ id: "v" }, {}, (_data, around) => around);
const asked = async (end) => {
  const reply = ask({}).then(() => "answered", (reason) => reason.message);
  end();
  console.log(await reply, open.has(kernel));
};
await asked(() => made.at(-1).onClose());
await asked(() => open.get(kernel).end());
await asked(() => kernel.disposed.emit());
"""


def test_a_question_that_no_kernel_will_answer_does_not_wait_forever() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here to run it")

    done = subprocess.run(
        [node, "--input-type=module"],
        cwd=labextension.SOURCE / "src",
        input=ASKED,
        capture_output=True,
        text=True,
        check=False,
    )

    told = "the kernel does not know the view: run the cell again to ask for more false"
    assert done.stdout.splitlines() == [told] * 3, done.stderr


def test_colours_know_every_option_with_a_value() -> None:
    source = (labextension.SOURCE / "src" / "sql_tokens.js").read_text(encoding="utf-8")
    counts = re.search(r"VALUE_COUNTS = .*?\{(.*?)\}\);", source, re.DOTALL)
    assert counts is not None

    known = {name: int(count) for name, count in re.findall(r'"(-[\w-]+)": (\d)', counts[1])}

    assert known == {name: len(value.split()) for name, value in OPTIONS.items() if value}


def test_settings_have_defaults() -> None:
    schema = json.loads((labextension.SOURCE / "schema" / "plugin.json").read_text())

    assert all("default" in one for one in schema["properties"].values())
