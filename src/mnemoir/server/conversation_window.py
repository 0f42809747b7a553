"""`/api/conversations/{id}/window`: what a model would be shown, and what became of the messages of the thread."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from mnemoir.agent.memory import Reader
from mnemoir.agent.retrieval import Recalled, RetrievalLimits, recalled_for
from mnemoir.app.conversation_parts import make_strategy
from mnemoir.conversations.attachments import Attachments
from mnemoir.conversations.counters import CHARS4
from mnemoir.conversations.sessions import Summary
from mnemoir.conversations.strategies.strategy import StrategyName
from mnemoir.conversations.users import OwnConversations
from mnemoir.conversations.window_parts import WindowPart, WindowParts, window_parts
from mnemoir.core.clock import to_text
from mnemoir.core.tokens import estimate_tokens
from mnemoir.server.conversation_access import CONVERSATIONS, ONE, OwnerHere, holding
from mnemoir.server.conversation_answers import WindowAnswer
from mnemoir.server.conversation_models import Json, conversation_answer, sent_json
from mnemoir.server.raw_paths import RouteAsSent
from mnemoir.server.rest import SiteHere

router = APIRouter(prefix=CONVERSATIONS + ONE, tags=["conversations"], route_class=RouteAsSent)

_MOST_TOKENS = 1_000_000
_LONGEST_QUESTION = 10_000  # characters; what lies behind them tells an embedding model nothing more

Tokens = Annotated[int | None, Query(ge=1, le=_MOST_TOKENS, description="else as the server's settings say")]
Chosen = Annotated[StrategyName | None, Query(description="else as the server's settings say")]
Question = Annotated[str | None, Query(alias="q", description="also tell what would be recalled for this question")]
Summarise = Annotated[bool, Query(description="false asks no model: the summary there is, or none")]


@router.get("/window", summary="What a model would be shown of it", response_model=WindowAnswer)
async def window(
    site: SiteHere,
    scope: OwnerHere,
    id: str,
    max_tokens: Tokens = None,
    strategy: Chosen = None,
    summarise: Summarise = True,
    question: Question = None,
) -> Response:
    async with holding(site, scope, id) as own:
        settings = site.parts.settings
        name = strategy or settings.memory.strategy
        own_one = name == settings.memory.strategy
        chosen = own.manager.strategy if own_one else make_strategy(settings, site.parts.model, name)
        budget = own.manager.max_history_tokens if max_tokens is None else max_tokens
        told = await asyncio.to_thread(
            window_parts,
            own.manager.storage,
            id,
            chosen,
            budget,
            keeps_important=name == "hybrid",
            summarises=summarise,
        )
        rag = settings.memory.rag
        limits = RetrievalLimits(top_k=rag.top_k, min_similarity=rag.min_similarity, max_tokens=rag.max_tokens)
        recalled = await _recalled(own, question, limits, told)
        answer = {"strategy": name, "max_tokens": budget, "recalled": recalled, "recalls": rag.enabled}
        return await asyncio.to_thread(_answer, own, told, answer)


async def _recalled(
    own: OwnConversations, question: str | None, limits: RetrievalLimits, told: WindowParts
) -> list[Json] | None:
    """As a chat recalls it; None without a question."""
    if question is None or not question.strip():
        return None
    found = await recalled_for(question[:_LONGEST_QUESTION], own.manager, Reader(), limits, told.messages)
    return [_recalled_json(one) for one in found]


def _answer(own: OwnConversations, told: WindowParts, further: Json) -> Response:
    shown = Attachments(own.node_parts.objects).bring_back(list(told.messages))
    body = {
        "tokens": CHARS4.count(told.messages),
        "messages": [sent_json(message) for message in shown],
        "parts": [_part_json(part) for part in told.parts],
        "summary": None if told.summary is None else _summary_json(told.summary),
    }
    return conversation_answer(body | further)


def _part_json(part: WindowPart) -> Json:
    return {
        "state": part.state,
        "tokens": part.tokens,
        "messages": part.messages,
        "first_id": part.first,
        "last_id": part.last,
        "role": part.role,
        "text": part.text,
    }


def _summary_json(summary: Summary) -> Json:
    return {
        "text": summary.text,
        "upto_message_id": summary.upto_message_id,
        "tokens": summary.token_count,
        "model": summary.model,
        "created_at": None if summary.created_at is None else to_text(summary.created_at),
    }


def _recalled_json(recalled: Recalled) -> Json:
    message = recalled.message
    return {"role": message.role, "text": message.text, "tokens": estimate_tokens(recalled.line)}
