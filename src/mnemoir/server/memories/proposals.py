"""The review queue of a user: proposals are listed, edited, approved and refused, one by one or many at once."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BeforeValidator

from mnemoir.core.ids import ProposalId
from mnemoir.core.proposals import Proposal
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import whole_number
from mnemoir.server.cursors import read_cursor, write_cursor
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import named_user, only_user, owner
from mnemoir.server.memories.answers import AppliedChange, Proposed, Success, applied_json, proposed_json
from mnemoir.server.memories.bodies import ProposalBody, ProposalsBody
from mnemoir.server.memories.lists import UserQuery
from mnemoir.server.rest import BodyOf, Cursor, ProjectHere, Routes, SiteHere

router = Routes(prefix="/api/memories/proposals", tags=["memories"])

_LIST = "proposals"
_MOST = 200
Limit = Annotated[int, BeforeValidator(whole_number(50, _MOST)), Query(description="0 means 200")]


class ProposalRecord(Proposed):
    """A proposal. `memory_id` is the memory to change or delete, null for one to add.

    `run_id`, `agent_id` and `app_id` are those of the memory; `session` is the conversation of the turns.
    """

    memory_id: str | None
    user_id: str
    created_at: str
    metadata: dict[str, Any] | None
    model: str | None
    session: str | None
    agent_id: str | None
    app_id: str | None
    run_id: str | None
    valid_to: str | None


class Proposals(JsonObject):
    """A page of proposals, newest first; `next` is the cursor of the following page."""

    results: list[ProposalRecord]
    total: int
    next: str | None


class ApprovedProposal(JsonObject):
    """What an approval changed. `id` is its change, which can be undone."""

    id: str
    results: list[AppliedChange]


class FailedProposal(JsonObject):
    """A proposal that was not approved, and why; it still waits unless it is gone."""

    id: str
    code: str
    error: str


class ApprovedProposals(JsonObject):
    """The changes that were made, and the proposals that do not fit any more."""

    changes: list[ApprovedProposal]
    failed: list[FailedProposal]


class RefusedProposals(Success):
    """How many proposals were refused."""

    refused: int


class RefusedProposal(Success):
    """A proposal was refused."""

    id: str


@router.get("", summary="What waits for a review, newest first")
@says("read")
async def list_proposals(
    site: SiteHere, project: ProjectHere, user: UserQuery = None, limit: Limit = 50, cursor: Cursor = None
) -> Answer[Proposals]:
    scope, review = owner(project, named_user(user, "list")), site.parts.memory.facts.review
    of = f"{_LIST} of {site.parts.memory.database.kind}"  # whose numbers are places of this list
    before = None if cursor is None else int(read_cursor(cursor, of, int)[0])
    page = await review.page(scope, limit=limit, before=before)
    return Answer(
        {
            "results": [proposal_json(one) for one in page.proposals],
            "total": await review.count(scope),
            "next": None if page.next is None else write_cursor(of, page.next),
        }
    )


@router.post("/approve", summary="Approve many proposals of one user, or all")
@says("write", exact=True)
async def approve_many(
    site: SiteHere, project: ProjectHere, body: Annotated[ProposalsBody, Depends(BodyOf(ProposalsBody))]
) -> Answer[ApprovedProposals]:
    outcome = await site.parts.memory.facts.review.approve_many(owner(project, body.user_id), _ids(body))
    site.count("approve")
    return Answer(
        {
            "changes": [
                {"id": change.id, "results": [applied_json(one) for one in change.applied]}
                for change in outcome.changes
            ],
            "failed": [{"id": each, "code": exc.code, "error": exc.message} for each, exc in outcome.failed],
        }
    )


@router.post("/refuse", summary="Refuse many proposals of one user, or all")
@says("write", exact=True)
async def refuse_many(
    site: SiteHere, project: ProjectHere, body: Annotated[ProposalsBody, Depends(BodyOf(ProposalsBody))]
) -> Answer[RefusedProposals]:
    refused = await site.parts.memory.facts.review.refuse_many(owner(project, body.user_id), _ids(body))
    site.count("refuse")
    return Answer({"success": True, "refused": refused})


@router.post("/{proposal_id}/approve", summary="Make a proposed change, which can be undone")
@says("write", exact=True)
async def approve(
    site: SiteHere, project: ProjectHere, proposal_id: str, user: UserQuery = None
) -> Answer[ApprovedProposal]:
    approved = await site.parts.memory.facts.review.approve(project, ProposalId(proposal_id), only_user(user))
    site.count("approve")
    return Answer({"id": approved.id, "results": [applied_json(one) for one in approved.applied]})


@router.post("/{proposal_id}/refuse", summary="Drop a proposal")
@says("write", exact=True)
async def refuse(
    site: SiteHere, project: ProjectHere, proposal_id: str, user: UserQuery = None
) -> Answer[RefusedProposal]:
    await site.parts.memory.facts.review.refuse(project, ProposalId(proposal_id), only_user(user))
    site.count("refuse")
    return Answer({"success": True, "id": proposal_id})


@router.patch("/{proposal_id}", summary="Give a proposal another text; it still waits")
@says("write")
async def edit(
    site: SiteHere,
    project: ProjectHere,
    proposal_id: str,
    body: Annotated[ProposalBody, Depends(BodyOf(ProposalBody))],
    user: UserQuery = None,
) -> Answer[ProposalRecord]:
    edited = await site.parts.memory.facts.review.edit(project, ProposalId(proposal_id), body.memory, only_user(user))
    return Answer(proposal_json(edited))


def proposal_json(proposal: Proposal) -> ProposalRecord:
    """The record of a proposal."""
    memory = proposal.memory
    return {
        **proposed_json(proposal),
        "memory_id": proposal.target,
        "user_id": memory.user,
        "created_at": proposal.proposed_at,
        "metadata": None if memory.metadata is None else dict(memory.metadata),
        "model": proposal.model,
        "session": proposal.session,
        "agent_id": memory.agent,
        "app_id": memory.app,
        "run_id": memory.conversation,
        "valid_to": memory.valid_to,
    }


def exported_json(proposal: Proposal) -> dict[str, Any]:
    """A line of an export, as `ImportedProposal` reads it."""
    memory = proposal.memory
    return {
        **proposal_json(proposal),
        "origin": memory.origin,
        "memory_id": memory.id,
        "at": proposal.at,
        "said_at": memory.created_at,
        "expiration_date": memory.expires_on,
        "replaced_by": proposal.successor or memory.replaced_by,
    }


def _ids(body: ProposalsBody) -> Sequence[ProposalId] | None:
    return None if body.ids is None else [ProposalId(each) for each in body.ids]
