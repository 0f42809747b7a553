"""Quotas of chats: budgets of tokens, shown by the headers of rate limits, and chats that go on unremembered."""

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime

from starlette.types import Scope

from mnemoir.chats.quotas import OF_A_TURN, BothLimits, Quotas
from mnemoir.chats.recording import Recorded
from mnemoir.core.clock import utc_now
from mnemoir.core.errors import QuotaExceeded, StorageUnavailable
from mnemoir.core.messages import TextPart
from mnemoir.core.scope import Scope as Owner
from mnemoir.core.usage import OF_MEMORY, Stored
from mnemoir.server.door.rate_limits import Headers, headers_of, remaining_share
from mnemoir.server.door.request import visit_of
from mnemoir.workflows.run import Caller

_OF_MESSAGES: Sequence[Stored] = ("messages", "attachment_bytes", "disk_bytes")


async def within_quotas(scope: Scope, quotas: Quotas, caller: Caller, room: ExitStack, *, needs_room: bool) -> Caller:
    """The caller, who learns and keeps only what there is room for; that of its messages until `room` is closed.

    What cannot be counted now has no room. Raises QuotaExceeded when a budget of tokens is used up; for a chat that
    cannot go on without its messages this, too, and StorageUnavailable.
    """
    limits = quotas.limits_for(caller.scope)
    if not any(limits):
        return caller
    check_budgets(scope, quotas, caller.scope, limits)
    of_memory: Sequence[Stored] = OF_MEMORY if caller.learns else ()
    wanted = (*of_memory, *(_OF_MESSAGES if caller.may_be_kept else ()))
    try:
        used_up = await quotas.used_up(caller.scope, wanted, limits, room)
    except StorageUnavailable:  # whether there is room is not known
        if needs_room:
            raise
        limited = [what for what in wanted if any(what in each for each in limits)]
        return replace(caller, used_up=limited, is_uncounted=True)
    if needs_room:
        await quotas.check(caller.scope, *(what for what in used_up if what in _OF_MESSAGES), more=OF_A_TURN)
    return replace(caller, used_up=used_up) if used_up else caller


def check_budgets(scope: Scope, quotas: Quotas, owner: Owner, limits: BothLimits | None = None) -> None:
    """Tell in the answer's headers how it stands with the budget nearest to its end. Raises QuotaExceeded."""
    visit = visit_of(scope)
    try:
        budget = quotas.budget(owner, limits)
    except QuotaExceeded as exc:
        visit.headers = _headers(exc.limit, 0, exc.resets_at)
        raise
    if budget is not None and budget.limit is not None:
        told = _headers(budget.limit, budget.remainder, budget.resets_at)
        visit.headers = min(visit.headers, told, key=remaining_share)


def _headers(limit: int, left: int, resets_at: datetime | None) -> Headers:
    wait_s = 0.0 if resets_at is None else (resets_at - utc_now()).total_seconds()
    return headers_of(limit, left, max(math.ceil(wait_s), 1))


def note_stored(quotas: Quotas, recorded: Recorded, room: ExitStack) -> None:
    """Note what a chat has stored, and when `room` is closed, its answer."""
    if recorded.turn is None or not quotas.is_on(recorded.caller.scope):
        return
    quotas.has_stored(recorded.caller.scope, "messages", len(recorded.added))
    room.callback(quotas.has_stored, recorded.caller.scope, "messages")
    if any(not isinstance(part, TextPart) for message in recorded.chat.request.messages for part in message.parts):
        quotas.has_stored(recorded.caller.scope, "attachment_bytes")


def degraded_by(recorded: Recorded, *, has_no_memory: bool) -> bytes:
    """The value of `X-Mnemoir-Degraded`: why a chat is not learned from, not kept, or answered without memory.

    It is b"" where nothing is lacking.
    """
    caller = recorded.caller
    causes = [] if caller.is_uncounted else [f"quota-{what}" for what in caller.used_up]
    causes += ["storage"] if recorded.is_lost or caller.is_uncounted else []
    return ", ".join([*causes, *(["memory"] if has_no_memory else [])]).encode()
