"""`/api/conversations/{id}/window`: the messages a model would receive, and the state of those of the thread."""

import asyncio
from typing import Annotated

from fastapi import Query

from mnemoir.agent.memory import Reader
from mnemoir.agent.retrieval import RecalledMessage, RetrievalLimits, recalled_for
from mnemoir.chats.conversation_parts import make_strategy
from mnemoir.chats.quotas import asked_for
from mnemoir.conversations.attachments.attachments import Attachments
from mnemoir.conversations.users import OwnConversations
from mnemoir.conversations.windows.counters import CHARS4
from mnemoir.conversations.windows.strategies.tail import StrategyName
from mnemoir.conversations.windows.window_parts import PartState, WindowPart, WindowParts, window_parts
from mnemoir.core.clock import to_text
from mnemoir.core.conversations import Role, Summary
from mnemoir.core.text import estimate_tokens
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.conversations.access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.conversations.answers import SentMessage, sent_json
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes, SiteHere

router = Routes(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)

_MOST_TOKENS = 1_000_000
_LONGEST_QUESTION = 10_000  # characters; an embedding model gains nothing from further ones

Tokens = Annotated[int | None, Query(ge=1, le=_MOST_TOKENS, description="else as the server's settings say")]
Chosen = Annotated[StrategyName | None, Query(description="else as the server's settings say")]
Question = Annotated[str | None, Query(alias="q", description="also tell what would be recalled for this question")]
Summarise = Annotated[bool, Query(description="false asks no model: the summary there is, or none")]


class WindowPartAnswer(JsonObject):
    """A message that the window holds, or a stretch of the thread that it does not hold.

    `kept`: of the recent part. `retained`: older, and held because it is important or pinned. `summary`, `note`:
    stands for no message, and has a text. `summarised`: in the summary only. `dropped`: in nothing. `cleared`: before
    the place where the context was restarted. A stretch is given by its first and last message; its `tokens` are an
    estimate. With `hybrid` a `summarised` and a `dropped` part may cover the same stretch: those dropped are its
    system messages, those pinned, and those with an importance of 0.6 or more.
    """

    state: PartState
    tokens: int
    messages: int
    first_id: int | None
    last_id: int | None
    role: Role | None
    text: str | None


class WindowSummary(JsonObject):
    """The stored summary in the window, shortened where it had to be."""

    text: str
    upto_message_id: int
    tokens: int
    model: str
    created_at: str | None


class RecalledAnswer(JsonObject):
    """A memory that would be recalled for a question: the line that a model receives; best first."""

    role: Role
    text: str
    tokens: int


class WindowAnswer(JsonObject):
    """The window a model would receive, and the state of the thread, from its oldest message to the newest.

    `recalls` is true where the settings let chats recall memories; `recalled` is null without a question.
    """

    strategy: StrategyName
    max_tokens: int
    tokens: int
    messages: list[SentMessage]
    parts: list[WindowPartAnswer]
    summary: WindowSummary | None
    recalled: list[RecalledAnswer] | None
    recalls: bool


@router.get("/window", summary="What a model would be shown of it")
@says("read")
async def window(
    site: SiteHere,
    scope: OwnerHere,
    id: str,
    max_tokens: Tokens = None,
    strategy: Chosen = None,
    summarise: Summarise = True,
    question: Question = None,
) -> Answer[WindowAnswer]:
    await site.parts.memory.personal_data.enter(scope)  # a summary is asked of a model
    asked_for.set(scope)
    async with holding(site, scope, id) as own:
        settings = site.parts.settings
        name = strategy or settings.memory.strategy
        own_one = name == settings.memory.strategy
        chosen = (
            own.manager.strategy
            if own_one
            else make_strategy(settings, site.parts.models.in_use.now, site.parts.chats.quotas.ask, name)
        )
        budget = own.manager.max_history_tokens if max_tokens is None else max_tokens
        parts = await asyncio.to_thread(
            window_parts,
            own.log,
            id,
            chosen,
            budget,
            keeps_important=name == "hybrid",
            summarises=summarise,
        )
        rag = settings.memory.rag
        limits = RetrievalLimits(top_k=rag.top_k, min_similarity=rag.min_similarity, max_tokens=rag.max_tokens)
        recalled = await _recalled_memories(own, question, limits, parts)
        body: WindowAnswer = {
            "strategy": name,
            "max_tokens": budget,
            "tokens": CHARS4.count(parts.messages),
            "messages": await asyncio.to_thread(_sent_messages, own, parts),
            "parts": [_part_json(part) for part in parts.parts],
            "summary": None if parts.summary is None else _summary_json(parts.summary),
            "recalled": recalled,
            "recalls": rag.enabled,
        }
        return Answer(body)


async def _recalled_memories(
    own: OwnConversations, question: str | None, limits: RetrievalLimits, parts: WindowParts
) -> list[RecalledAnswer] | None:
    """The memories a chat would recall for the question; None without a question."""
    if question is None or not question.strip():
        return None
    found = await recalled_for(question[:_LONGEST_QUESTION], own.manager, Reader(), limits, parts.messages)
    return [_recalled_json(one) for one in found]


def _sent_messages(own: OwnConversations, parts: WindowParts) -> list[SentMessage]:
    """The messages a model would receive, with their attachments read from files."""
    return [sent_json(message) for message in Attachments(own.node_parts.objects).bring_back(list(parts.messages))]


def _part_json(part: WindowPart) -> WindowPartAnswer:
    return {
        "state": part.state,
        "tokens": part.tokens,
        "messages": part.messages,
        "first_id": part.first,
        "last_id": part.last,
        "role": part.role,
        "text": part.text,
    }


def _summary_json(summary: Summary) -> WindowSummary:
    return {
        "text": summary.text,
        "upto_message_id": summary.upto_message_id,
        "tokens": summary.token_count,
        "model": summary.model,
        "created_at": None if summary.created_at is None else to_text(summary.created_at),
    }


def _recalled_json(recalled: RecalledMessage) -> RecalledAnswer:
    message = recalled.message
    return {"role": message.role, "text": message.text, "tokens": estimate_tokens(recalled.line)}
