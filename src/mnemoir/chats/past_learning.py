"""Learning from imported conversations: jobs of the queue, each of which looks into some turns and queues the next.

A turn is read as if it had been said in a chat when its message was written, from the user's words alone, and
changes nothing that was told after it. The trackers of the conversations tell how far learning came, so that no turn
is asked about twice: a job that is repeated finds its turn counted, or the receipt of its add. Between two turns
chats go first.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from time import monotonic
from typing import Any

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.past_turns import PastTurn, SaidTurn, said_turn, waiting_turns
from mnemoir.chats.quotas import Quotas, limited_as
from mnemoir.chats.remembering import past_queue_of, queue_of
from mnemoir.core.clock import from_text, to_text
from mnemoir.core.errors import Conflict, MnemoirError
from mnemoir.core.ids import ImportId, JobId
from mnemoir.core.scope import Scope, acting
from mnemoir.core.text import digest
from mnemoir.core.usage import OF_MEMORY, Limits
from mnemoir.memory.background import Background, is_final, log_fault
from mnemoir.memory.facts import AddRequest, Facts
from mnemoir.memory.facts.extract.requests import UNDATED, ModelCalls
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_store import Project, Receipt
from mnemoir.ports.project_settings import ProjectSettingsStore
from mnemoir.storage.sql.imports import Import, ImportedConversation, SqlImports, TurnOutcome
from mnemoir.storage.user_pool import in_thread

KIND = "learn_past"
_TOGETHER_S = 2.0  # for how long one job takes turns: thousands of jobs would be kept for a week
_CHATS_FIRST_S = 60.0  # how long a turn waits for chats at most
_LOOKED_AGAIN_S = 0.2
_ENDS_WITHIN_S = 10.0  # a turn that is being asked about when the server stops; else it is asked about again
_STOPS_WITHIN_S = 1.0  # else a turn under way ends by itself, and is the last one


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningEstimate:
    """What learning from an import will take: the turns that are left, their tokens, and the calls of which model."""

    turns: int
    tokens: int
    calls: ModelCalls


class PastLearning:
    """Serves every user. `is_here`: memories are kept by this server. Raises StorageUnavailable."""

    def __init__(
        self,
        imports: SqlImports,
        conversations: Conversations,
        background: Background,
        quotas: Quotas,
        facts: Facts,
        project_settings: ProjectSettingsStore,
        *,
        is_here: bool,
    ) -> None:
        self._imports = imports
        self._conversations = conversations
        self._background = background
        self._quotas = quotas
        self._facts = facts
        self._project_settings = project_settings
        self._is_here = is_here
        self._left: dict[tuple[ImportId, int], deque[PastTurn]] = {}  # of each round that goes on, as a cache
        self._turn_ended = asyncio.Event()  # set while no turn is being looked into
        self._turn_ended.set()
        self._turns = 0
        self._is_closing = False
        background.handle(KIND, self._work)

    async def aclose(self) -> None:
        """Begin no further turn, and let those that a model was asked about end, for a while."""
        self._is_closing = True
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENDS_WITHIN_S):
                await self._turn_ended.wait()

    async def estimate(self, scope: Scope, one: Import) -> LearningEstimate:
        """What it will take to learn from what is left of an import."""
        left = await self._open_turns(scope, one)
        calls = await asyncio.to_thread(self._facts.calls_for, [turn.tokens for turn in left])
        return LearningEstimate(turns=len(left), tokens=sum(turn.tokens for turn in left), calls=calls)

    async def begin(self, scope: Scope, one: Import, agreed: ModelCalls, zone: str | None) -> Import:
        """Learn from what is left of an import; `agreed` is what the person was told that it takes.

        Raises Conflict: `estimate_outdated` where it takes something else by now, `memory_off` where nothing may be
        learned, `learning_elsewhere` where another server keeps the memories, `nothing_to_learn`.
        """
        await self._refuse(scope, one)
        estimate = await self.estimate(scope, one)
        now = estimate.calls
        if now != agreed:
            raise Conflict(
                f"Learning from it takes {now.least} to {now.most} calls of {now.model!r} by now. Look at the new "
                "estimate, and ask again.",
                code="estimate_outdated",
            )
        self._quotas.budget(scope)
        begun = await self._imports.begin(scope, one.id, zone, estimate.turns)
        if begun is None:
            raise Conflict("Nothing is left to be learned of this import.", code="nothing_to_learn")
        await self._put(scope, begun, acting.get().principal.limits)
        return begun

    async def cancel(self, scope: Scope, one: Import) -> None:
        """Stop behind the turn that is being looked into; what was learned stays."""
        await self._imports.move(scope, one.id, "learning", "stopped")
        with suppress(Conflict):
            await self._background.withdraw(past_queue_of(scope), _is_of(one), patience_s=_STOPS_WITHIN_S)

    async def job_of(self, scope: Scope, one: Import) -> Job | None:
        """The job that goes on with an import; None without one."""
        waiting = await self._background.waiting(past_queue_of(scope), limit=100)
        return next(filter(_is_of(one), waiting), None)

    async def _refuse(self, scope: Scope, one: Import) -> None:
        if one.kind != "conversations" or one.state not in ("stored", "learning", "stopped"):
            raise Conflict("Nothing is left to be learned of this import.", code="nothing_to_learn")
        if not self._is_here:
            raise Conflict(
                "Another server keeps the memories (memory.management_url), and learning from an import works where "
                "they are kept. Import the file there.",
                code="learning_elsewhere",
            )
        if await self._is_off(scope):
            raise Conflict("Memory is off in this project. Switch it on, then learn.", code="memory_off")
        if await self.job_of(scope, one) is not None and one.state == "learning":
            raise Conflict("This import is being learned from already.", code="learning_under_way")

    async def _is_off(self, scope: Scope) -> bool:
        """Whether nothing may be remembered in the project."""
        own = await self._project_settings.load(Project(tenant=scope.tenant, project=scope.project))
        return own.memory_enabled is False

    async def _put(self, scope: Scope, one: Import, limits: Limits) -> None:
        """Queue the next turn of a round, once."""
        payload = {
            "scope": asdict(scope.owner),
            "import_id": one.id,
            "round": one.round,
            "turn": one.done,
            "limits": dict(limits),
        }
        id = JobId(f"evt_{digest(f'{one.id} {one.round} {one.done}').hex()}")
        await self._background.put(KIND, payload, queue=past_queue_of(scope), job_id=id)

    async def _work(self, job: Job) -> Mapping[str, Any]:
        """Look into turns for a while, one after the other, and queue a job for those that follow."""
        scope, turn = Scope(**job.payload["scope"]), job.payload["turn"]
        until = monotonic() + _TOGETHER_S
        while await self._round_of(scope, job) is not None:
            await self._give_way(scope)
            if self._is_closing:
                await asyncio.Event().wait()  # until the queue puts the job back, which is about to close
            with self._mark_turn():
                one = await self._round_of(scope, job)
                if one is not None and (
                    one.done != turn or monotonic() > until
                ):  # or it is repeated behind a failure
                    await self._put(scope, one, job.payload["limits"])
                    return {}
                if one is None or not await self._advance(scope, one, job):
                    break
                turn += 1
        self._left.pop((ImportId(job.payload["import_id"]), job.payload["round"]), None)
        return {}

    @contextmanager
    def _mark_turn(self) -> Iterator[None]:
        self._turns += 1
        self._turn_ended.clear()
        try:
            yield
        finally:
            self._turns -= 1
            if not self._turns:
                self._turn_ended.set()

    async def _advance(self, scope: Scope, one: Import, job: Job) -> bool:
        """Look into the next turn; False where none is left, or memory is off, and learning ends."""
        if await self._is_off(scope):
            await self._imports.move(scope, one.id, "learning", "stopped")
            return False
        if await self._look_into_next(scope, one, job):
            return True
        await self._imports.move(scope, one.id, "learning", "learned")
        return False

    async def _round_of(self, scope: Scope, job: Job) -> Import | None:
        """The import of a job, while learning goes on in the same round."""
        one = await self._imports.get(scope, job.payload["import_id"])
        goes_on = one is not None and one.state == "learning" and one.round == job.payload["round"]
        return one if goes_on else None

    async def _give_way(self, scope: Scope) -> None:
        """Wait until no chat is under way and the user's chats are learned from, but not for ever."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_CHATS_FIRST_S):
                while True:
                    await self._quotas.no_chat.wait()
                    if not await self._background.waiting(queue_of(scope), limit=1):
                        return
                    await asyncio.sleep(_LOOKED_AGAIN_S)

    async def _look_into_next(self, scope: Scope, one: Import, job: Job) -> bool:
        """Learn from the oldest turn that is left, and note it; False where none is left."""
        turn = await self._next(scope, one)
        if turn is None:
            return False
        outcome = TurnOutcome()
        try:
            with limited_as(scope, job.payload["limits"]):
                outcome = await self._learn(scope, one, turn)
        except MnemoirError as exc:
            if not is_final(job, exc):
                raise
            outcome = TurnOutcome(failed=1)
        except Exception as exc:  # noqa: BLE001 - one odd turn must not end the learning of all others
            log_fault(exc, job)
            outcome = TurnOutcome(failed=1)
        await self._imports.note_turn(scope, one, turn.row, turn.message_id, outcome)
        return True

    async def _learn(self, scope: Scope, one: Import, turn: PastTurn) -> TurnOutcome:
        async with self._conversations.of(scope) as own:
            told = await in_thread(said_turn, own.log, turn)
        if told is None:
            return TurnOutcome()
        self._quotas.budget(scope)
        await self._quotas.check(scope, *OF_MEMORY)
        result = await self._facts.add(scope.owner, _request(one, turn, told))
        await self._forget_if_gone(scope, turn.conversation)
        changed = {applied.memory.id for applied in result.applied if applied.event != "DELETE"}
        return TurnOutcome(learned=len(changed), to_review=len(result.proposed))

    async def _forget_if_gone(self, scope: Scope, conversation: str) -> None:
        """Forget what was learned of a conversation that was forgotten meanwhile."""
        async with self._conversations.deciding(scope, conversation), self._conversations.of(scope) as own:
            if await in_thread(own.log.get_session, conversation) is None:
                await self._facts.forget_session(scope.owner, conversation)

    async def _next(self, scope: Scope, one: Import) -> PastTurn | None:
        """The oldest turn behind the trackers."""
        key = one.id, one.round
        if key not in self._left:
            self._left[key] = deque(await self._open_turns(scope, one))
        left, known = self._left[key], await self._trackers(scope, one)
        while left and left[0].message_id <= (known[left[0].row].learned_to if left[0].row in known else _GONE):
            left.popleft()
        return left[0] if left else None

    async def _trackers(self, scope: Scope, one: Import) -> Mapping[str, ImportedConversation]:
        return {each.id: each for each in await self._imports.conversations(scope, one.id)}

    async def _open_turns(self, scope: Scope, one: Import) -> list[PastTurn]:
        known = list((await self._trackers(scope, one)).values())
        if not known or not await self._conversations.exist(scope):
            return []
        async with self._conversations.of(scope) as own:
            return await in_thread(waiting_turns, own.log, known)


_GONE = 2**63  # behind every message of a conversation that was forgotten


def _request(one: Import, turn: PastTurn, told: SaidTurn) -> AddRequest:
    """The add of a turn. Its key is the same in every round."""
    at, begun_at = told.turn.said_at, from_text(one.created_at)
    is_dated = at is not None and begun_at is not None and at < begun_at  # what the file has no time for got one then
    time = {"timestamp": to_text(at)} if at is not None and is_dated else {UNDATED: one.id}
    at = at if is_dated else begun_at
    key = digest(f"{one.id} {told.uid}").hex()
    return AddRequest(
        turns=[replace(told.turn, said_at=at)],
        metadata={"session_id": turn.conversation, "source": "import", **time},
        said_at=at,
        context=told.context,
        zone=one.zone,
        receipt=Receipt(key=f"past_{key}", request_hash=key),
        is_past=True,
    )


def _is_of(one: Import) -> Callable[[Job], bool]:
    return lambda job: job.kind == KIND and job.payload.get("import_id") == one.id
