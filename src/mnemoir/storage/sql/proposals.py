"""Proposals in the database. Both backends of memories keep the review queue in this table.

A commit puts proposals there or approves them in its own transaction. The turns behind proposals are those of one
commit in `sources`, and go with the last event or proposal that came from them.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from mnemoir.core.clock import Clock, from_text, to_text, utc_now
from mnemoir.core.ids import MemoryId, ProposalId
from mnemoir.core.memories import Memory
from mnemoir.core.proposals import BY_HAND, Proposal
from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash, without_zeros
from mnemoir.ports.memory_store import Project, StaleChange
from mnemoir.ports.proposals import KEPT_DAYS, MOST_PROPOSALS, ProposalPage, ProposalStore
from mnemoir.storage.sql.engine import Engine, Sql, Value, enter_scope, queries
from mnemoir.storage.sql.rows import before_of, narrowing, state_as_json

_QUERIES = queries("proposals")
_NEWEST = 2**62


def put_proposals(sql: Sql, scope: Scope, proposals: Sequence[Proposal], source_id: int | None = None) -> int:
    """Store proposals that came from turns, and drop the oldest beyond the bound; how many are new."""
    number = sql.value(_QUERIES["next_number"]) if proposals else 0
    added = 0
    for place, proposal in enumerate(proposals, start=number):
        added += sql.run(_QUERIES["put_proposal"], number=place, source_id=source_id, **_values(proposal, scope))
    _drop(sql, [ProposalId(each) for (each,) in sql.rows(_QUERIES["beyond"], most=MOST_PROPOSALS)] if added else [])
    return added


def take_approved(sql: Sql, scope: Scope, proposals: Sequence[Proposal]) -> Mapping[MemoryId, Mapping[str, Value]]:
    """Delete proposals that are approved; the turns and the model of each, by its memory, as columns of an event.

    Raises StaleChange when one is gone, or has another text than the one that was read.
    """
    origins: dict[MemoryId, Mapping[str, Value]] = {}
    for proposal in proposals:
        known = content_hash(proposal.memory.text)
        taken = sql.row(_QUERIES["take_proposal"], id=proposal.id, known_hash=known)
        if taken is None:
            raise StaleChange(f"Proposal {proposal.id} was settled or edited since it was read.")
        origins[proposal.memory.id] = {"source_id": taken[0], "model": taken[1]}
    return origins


def erase_proposals(sql: Sql, scope: Scope) -> None:
    """Delete all proposals within a scope; their turns are left."""
    sql.run(_QUERIES["erase_proposals"], **narrowing(scope))


class SqlProposals:
    """`db` is the caller's, who closes it after this store."""

    def __init__(self, db: Engine, clock: Clock = utc_now) -> None:
        self._db = db
        self._clock = clock

    async def page(self, scope: Scope, *, limit: int, before: int | None = None) -> ProposalPage:
        """Newest first, before a place."""

        def proposals_before(sql: Sql) -> list[Proposal]:
            place = _NEWEST if before is None else before
            rows = sql.rows(_QUERIES["page_of_proposals"], before=place, limit=limit + 1, since=self._since())
            return [_proposal(row, scope.user) for row in rows]

        found = await self._db.read(scope, proposals_before)
        page = found[:limit]
        return ProposalPage(proposals=page, next=page[-1].place if len(found) > limit else None)

    async def count(self, scope: Scope) -> int:
        """The number of the user's proposals."""
        return await self._db.read(
            scope, lambda sql: int(sql.value(_QUERIES["count_of_proposals"], since=self._since()))
        )

    async def all(self, scope: Scope) -> list[Proposal]:
        """Oldest first, within the scope."""
        values: dict[str, Value] = {"since": self._since(), **narrowing(scope)}
        return await self._db.read(
            scope,
            lambda sql: [_proposal(row, scope.user) for row in sql.rows(_QUERIES["all_proposals"], **values)],
        )

    async def find(self, project: Project, proposal_id: ProposalId) -> tuple[Scope, Proposal] | None:
        """A proposal and its user; None when no user of the project has it."""
        which = {"tenant": project.tenant, "project": project.project, "id": proposal_id}
        user = await self._db.read(None, lambda sql: sql.value(_QUERIES["owner_of_proposal"], **which))
        if user is None:
            return None
        scope = Scope(tenant=project.tenant, project=project.project, user=user)
        row = await self._db.read(
            scope, lambda sql: sql.row(_QUERIES["proposal"], id=proposal_id, since=self._since())
        )
        return None if row is None else (scope, _proposal(row, user))

    async def rewrite(self, scope: Scope, proposal: Proposal, text: str) -> bool:
        """Give a proposal another text, by hand; False when it is not there as it was."""
        text = without_zeros(text)
        hashes = {
            "content_hash": content_hash(text),
            "known_hash": content_hash(proposal.memory.text),
        }
        values: dict[str, Value] = {"id": proposal.id, "text": text, "reason": BY_HAND, **hashes}
        return bool(await self._db.write(scope, lambda sql: sql.run(_QUERIES["rewrite_proposal"], **values)))

    async def from_messages(self, scope: Scope, message_uids: Sequence[str]) -> list[ProposalId]:
        """The proposals that were learned from these messages."""
        turns = [{"message_uid": uid} for uid in message_uids]
        rows = await self._db.read(scope, lambda sql: sql.many(_QUERIES["proposals_from_message"], turns))
        return [ProposalId(id) for (id,) in rows]

    async def drop(self, scope: Scope, ids: Sequence[ProposalId]) -> int:
        """Delete proposals of the user; how many were there."""
        return await self._db.write(scope, lambda sql: _drop(sql, ids))

    async def add(self, scope: Scope, proposals: Sequence[Proposal]) -> int:
        """Add those whose id the user does not have and that are not too old; how many."""
        since = self._since()
        young = [one for one in proposals if _seconds(one.proposed_at) >= since]
        return await self._db.write(scope, lambda sql: put_proposals(enter_scope(sql, scope), scope, young))

    async def forget(self, scope: Scope, ids: Sequence[ProposalId] | None = None) -> int:
        """Delete proposals of the user, without `ids` all, to the byte; how many."""

        def drop_proposals(sql: Sql) -> int:
            rows = sql.rows(_QUERIES["all_proposals"], since=0.0, **narrowing(scope)) if ids is None else ()
            return _drop(sql, ids if ids is not None else [ProposalId(row[1]) for row in rows])

        forgotten = await self._db.write(scope, drop_proposals)
        if forgotten:
            await self._db.empty_log()
        return forgotten

    async def expire(self, *, dry_run: bool = False) -> int:
        """Delete what is too old, of all users who are not on hold, or count it; how many."""
        if dry_run:
            return len(await self._db.read(None, lambda sql: sql.rows(_QUERIES["too_old"], since=self._since())))

        def drop_old_proposals(sql: Sql) -> int:
            rows = sql.rows(_QUERIES["too_old"], since=self._since())
            return sum(_drop(sql.within(scope_id), [ProposalId(each)]) for scope_id, each in rows)

        expired = await self._db.write(None, drop_old_proposals)
        if expired:
            await self._db.empty_log()
        return expired

    async def users(self, project: Project) -> list[Scope]:
        """One scope for each user with proposals, in name order."""
        which: dict[str, Value] = {"tenant": project.tenant, "project": project.project, "since": self._since()}
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["users_with_proposals"], **which))
        return [Scope(tenant=project.tenant, project=project.project, user=user) for (user,) in rows]

    async def total(self) -> int:
        """The number of proposals of all users."""
        return await self._db.read(
            None, lambda sql: int(sql.value(_QUERIES["proposals_of_all"], since=self._since()))
        )

    def _since(self) -> float:
        return (self._clock() - timedelta(days=KEPT_DAYS)).timestamp()


def _drop(sql: Sql, ids: Sequence[ProposalId]) -> int:
    """Delete proposals, and the turns that nothing else came from; how many were there."""
    dropped = 0
    for proposal_id in ids:
        found = sql.rows(_QUERIES["drop_proposal"], id=proposal_id)
        dropped += len(found)
        for (source_id,) in found:
            if source_id is not None:
                sql.run(_QUERIES["drop_unused_source"], source_id=source_id)
    return dropped


def _values(proposal: Proposal, scope: Scope) -> dict[str, Value]:
    memory, text = proposal.memory, without_zeros(proposal.memory.text)
    return {
        "id": proposal.id,
        "event": proposal.event,
        "memory_id": memory.id,
        "agent": memory.agent,
        "app": memory.app,
        "conversation": memory.conversation,
        "reason": proposal.reason,
        "proposed_at": _seconds(proposal.proposed_at),
        "at": proposal.at,
        "successor": proposal.successor,
        "model": proposal.model,
        "session": proposal.session,
        "content_hash": content_hash(text),
        "text": text,
        "previous_text": proposal.previous_text,
        "state": state_as_json(memory),
    }


def _seconds(text: str) -> float:
    instant = from_text(text)
    return 0.0 if instant is None else instant.timestamp()


def _proposal(row: Any, user: str) -> Proposal:
    number, id, event, memory_id, _agent, _app, _conversation, reason, proposed_at, at, successor, model = row[:12]
    session, text, previous, state = row[12:]
    return Proposal(
        id=ProposalId(id),
        event=event,
        memory=_memory(text, state, MemoryId(memory_id), user),
        reason=reason,
        proposed_at=to_text(datetime.fromtimestamp(proposed_at, UTC)),
        at=at,
        previous_text=previous,
        successor=None if successor is None else MemoryId(successor),
        model=model,
        session=session,
        place=number,
    )


def _memory(text: str, state: str, memory_id: MemoryId, user: str) -> Memory:
    memory = before_of(text, state, memory_id, user)
    assert memory is not None  # both are kept
    return memory


_: type[ProposalStore] = SqlProposals  # checked, never run
