"""The state of one run: what the client asked, what the model will be asked, what it answered."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mnemoir.core.events import Event, Finished, Text
from mnemoir.core.fence import take_down
from mnemoir.core.messages import ChatRequest, Message, ModelRequest
from mnemoir.workflows.caller import Caller

MOST_KEPT_CHARACTERS = 256 * 1024  # of an answer: one without end must not fill the memory


@dataclass(slots=True, kw_only=True)
class Run:
    """Changed by nodes as they go: `request` is what the responder will send, the rest what it said.

    `answer` is the answer in its pieces, of one that `is_overlong` only its beginning.
    """

    chat: ChatRequest
    caller: Caller
    request: ModelRequest
    answer: list[str] = field(default_factory=list)
    finished: Finished | None = None
    _said: int = 0

    def note(self, batch: Sequence[Event]) -> None:
        """Keep what the nodes behind the responder will need of its answer."""
        for event in batch:
            if type(event) is Text:  # exact type: this runs for every streamed piece
                self._said += len(event.text)
                if self._said <= MOST_KEPT_CHARACTERS:
                    self.answer.append(event.text)
            elif type(event) is Finished:
                self.finished = event

    @property
    def is_overlong(self) -> bool:
        """Whether more was answered than is kept."""
        return self._said > MOST_KEPT_CHARACTERS

    @property
    def user_text(self) -> str:
        """The last user message as typed; "" when there is none."""
        place = last_user_message(self.chat.request.messages)
        return "" if place is None else take_down(self.chat.request.messages[place].text).strip()


class Node(Protocol):
    """One step of a workflow, made once per definition and used by many runs at a time."""

    def applies(self, run: Run) -> bool:
        """Whether the node has anything to do in this run."""

    def run(self, run: Run) -> AsyncGenerator[Sequence[Event], None]:
        """Do it. Events of a responder go to the client; of any other node only notices do."""


def last_user_message(messages: Sequence[Message]) -> int | None:
    """The index of the last message of role user; None when there is none."""
    return next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "user"), None)
