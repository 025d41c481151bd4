"""What is counted of Spark's jobs, and to whom it is shown."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from paimonlab.notebook.kernel import front_ends
from paimonlab.notebook.kernel.front_ends import COMM
from paimonlab.notebook.kernel.progress import (
    Job,
    ProgressDisplay,
    Stage,
    StatementProgress,
    progress_of,
)


class FakeKernel:
    """Keeps what is sent; runs a cell of the session ``lab``."""

    ident = "k"
    iopub_socket = None

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any], str]] = []
        self.session = SimpleNamespace(send=self._send)
        self.comms: list[Any] = []
        self.comm_manager = SimpleNamespace(register_comm=self.comms.append)

    def get_parent(self) -> dict[str, Any]:
        header = {"session": "lab", "msg_id": "run"}
        return {"header": header, "metadata": {"cellId": "cell-7"}}

    def _send(
        self, _socket: Any, kind: str, content: dict[str, Any], *, parent: Any, ident: bytes
    ) -> None:
        assert ident
        self.sent.append((kind, content, parent["header"]["msg_id"]))

    @property
    def told(self) -> list[dict[str, Any]]:
        return [content["data"] for kind, content, _ in self.sent if kind == "comm_msg"]


def said(data: dict[str, Any], session: str = "lab") -> dict[str, Any]:
    header = {"session": session, "msg_id": "said"}
    return {"header": header, "content": {"comm_id": COMM, "data": data}}


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> FakeKernel:
    made = FakeKernel()
    monkeypatch.setattr(front_ends, "_current", None)
    front_ends.register(made, lambda code, offset: {"start": offset, "end": len(code), "items": []})
    return made


@pytest.fixture
def display() -> ProgressDisplay:
    return ProgressDisplay(is_shown=True)


HALF = StatementProgress(done_count=1, count=2, unit="tasks", done_stage_count=0, stage_count=1)


def test_stages_that_two_jobs_share_count_once_and_skipped_ones_never() -> None:
    shared = Stage(1, done_task_count=4, task_count=4, is_active=False)
    skipped = Stage(2, done_task_count=0, task_count=8, is_active=False)
    waits = Stage(3, done_task_count=0, task_count=2, is_active=False)

    found = progress_of(
        [Job(is_running=False, stages=(shared, skipped)), Job(True, (shared, waits))], 12_345
    )

    assert str(found) == "4/6 tasks, 1/2 stages, 12,345 rows"


def test_a_kernel_says_that_it_is_there(kernel: FakeKernel) -> None:
    front_ends.register(kernel, lambda *_: {})

    assert [comm.comm_id for comm in kernel.comms] == [COMM]
    assert [message["kind"] for message in kernel.told] == ["here", "here"]


def test_who_listens_gets_messages_and_no_line(
    kernel: FakeKernel, display: ProgressDisplay, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel.comms[0].handle_msg(said({"listens": True}))

    display.show(HALF, 0.4)
    display.show(HALF, 0.6, ui_url="http://127.0.0.1:4040")
    display.clear()

    assert kernel.told[1:] == [
        {
            "kind": "progress",
            "label": "Spark",
            "done": 1,
            "total": 2,
            "text": ["1/2 tasks", "0/1 stages"],
            "elapsed": 0.6,
            "statement": [1, 1],
            "ui": "http://127.0.0.1:4040",
            "cell": "cell-7",
        },
        {"kind": "done", "cell": "cell-7"},
    ]
    assert {parent for *_, parent in kernel.sent} == {"run"}
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "messages",
    [[], [said({"listens": True}, "other window")], [said({"listens": x}) for x in (True, False)]],
)
def test_who_does_not_listen_gets_a_line_and_no_messages(
    messages: list[dict[str, Any]],
    kernel: FakeKernel,
    display: ProgressDisplay,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for message in messages:
        kernel.comms[0].handle_msg(message)

    display.show(HALF, 0.6)
    display.clear()

    assert len(kernel.told) == 1
    line = "Spark: 1/2 tasks, 0/1 stages, 0.6 s"
    assert capsys.readouterr().err == line + "\b" * len(line)


def test_a_line_is_taken_back_when_somebody_begins_to_listen(
    kernel: FakeKernel, display: ProgressDisplay, capsys: pytest.CaptureFixture[str]
) -> None:
    display.show(HALF, 0.6)
    kernel.comms[0].handle_msg(said({"listens": True}))
    display.show(HALF, 0.8)

    assert capsys.readouterr().err.endswith("\b")
    assert kernel.told[-1]["kind"] == "progress"


def test_what_is_not_to_be_shown_is_not(kernel: FakeKernel) -> None:
    kernel.comms[0].handle_msg(said({"listens": True}))
    display = ProgressDisplay(is_shown=False)

    display.show(HALF, 0.6)
    display.clear()

    assert len(kernel.told) == 1


def test_a_question_is_answered_to_the_one_who_asked(kernel: FakeKernel) -> None:
    kernel.comms[0].handle_msg(said({"complete": {"code": "%%paimon\nSEL", "offset": 9}}))

    assert kernel.told[-1] == {"kind": "completions", "start": 9, "end": 12, "items": []}
    assert kernel.sent[-1][2] == "said"


def test_what_is_no_message_is_dropped(kernel: FakeKernel) -> None:
    before = list(kernel.sent)

    kernel.comms[0].handle_msg(said({"listens": "<b>"}))
    kernel.comms[0].handle_msg({})

    assert kernel.sent == before
    assert not kernel.comms[0].is_listening
