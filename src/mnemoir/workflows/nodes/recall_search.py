"""What memory has for a question: the memories that are found, and what was said and is not learned from yet."""

from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.core.messages import Message
from mnemoir.core.scope import Scope
from mnemoir.core.text import RecalledLine
from mnemoir.ports.memory_service import ChatTurn, RecallLimits, RecallResult
from mnemoir.ports.recalled import MOST_SAID, SAID
from mnemoir.wire.app_prompts import typed_text
from mnemoir.workflows.nodes.recalled_lines import lines_for
from mnemoir.workflows.services import ChatMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRecall:
    """The lines that stand in front of the first question of a chat, those that fit before others, the best first.

    `limits` bound their tokens, None where the project has switched memory off. `degraded` is as in `RecallResult`.
    """

    limits: RecallLimits | None
    lines: Sequence[RecalledLine] = ()
    degraded: str = ""


async def search_memory(
    memory: ChatMemory,
    scope: Scope,
    asked: str,
    limits: RecallLimits,
    *,
    credential: str | None,
    recorded_scope: Scope,
    before: Sequence[str] = (),
    sent: Sequence[Message] = (),
) -> tuple[RecallResult, list[RecalledLine]]:
    """What memory has for a question, and the turns that wait to be learned from, without what the client `sent`.

    Turns of the conversation of `recorded_scope` are left out, too. Raises ProviderError.
    """
    found = await memory.service.search(scope, asked, limits=limits, credential=credential, before=before)
    return found, _lines_of_turns(await memory.waiting(recorded_scope), sent)


async def recall_for_new_chat(
    memory: ChatMemory, scope: Scope, question: str, *, credential: str | None
) -> FirstRecall:
    """What a stored chat that the built-in workflow answers is given for its first question. Raises ProviderError."""
    limits, asked = await memory.allowance(scope), typed_text(question)
    if limits is None or not asked:
        return FirstRecall(limits=limits)
    found, said = await search_memory(memory, scope, asked, limits, credential=credential, recorded_scope=scope)
    lines = lines_for(found.lines, said, (), limits.tokens)
    best_first = sorted(lines, key=lambda line: (not line.fits, line in said, line.rank))
    return FirstRecall(limits=limits, lines=best_first, degraded=found.degraded)


def _lines_of_turns(turns: Sequence[ChatTurn], sent: Sequence[Message]) -> list[RecalledLine]:
    """The turns as lines, each text once, without those that the client sends itself."""
    if not turns:  # what the messages say is worked out in milliseconds
        return []
    present = {typed_text(message.text) for message in sent if message.role == "user"}
    return [
        RecalledLine(
            text=f"{SAID}{waiting.user_text[:MOST_SAID]}", day=waiting.said_at[:10], said_uid=waiting.user_uid or ""
        )
        for waiting in {one.user_text: one for one in turns}.values()  # an answer made again is a turn, too
        if waiting.user_text not in present
    ]
