"""The lines of `POST /api/import` as `GET /api/export` and the memory routes answer them: proposals and memories."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from mnemoir.core.clock import to_text
from mnemoir.core.ids import MemoryId, ProposalId, new_memory_id
from mnemoir.core.memories import Memory, Origin, origin_of_role
from mnemoir.core.proposals import Proposal
from mnemoir.server.body import Body, Instant, UserId, name_of, not_blank
from mnemoir.server.memories.bodies import Day


class ImportedProposal(Body):
    """One line of `POST /api/import` with `kind: proposal`, as `GET /api/export` answers it."""

    id: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\x21-\x7e]+$")] | None = None
    event: Literal["ADD", "UPDATE", "DELETE"]
    memory: Annotated[str, AfterValidator(not_blank)]
    previous_memory: str | None = None
    memory_id: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    user_id: UserId
    created_at: Instant
    reason: Annotated[str, Field(min_length=1, max_length=256)] = "import"
    metadata: dict[str, Any] | None = None
    model: Annotated[str, Field(max_length=256)] | None = None
    session: Annotated[str, Field(max_length=256)] | None = None
    agent_id: Annotated[str, name_of("agent_id")] | None = None
    app_id: Annotated[str, name_of("app_id")] | None = None
    run_id: Annotated[str, name_of("run_id")] | None = None
    at: Instant | None = None
    said_at: Instant | None = None
    expiration_date: Day | None = None
    valid_to: Instant | None = None
    replaced_by: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    origin: Origin | None = None

    @model_validator(mode="after")
    def _has_a_target(self) -> "ImportedProposal":
        if self.event != "ADD" and self.memory_id is None:
            raise ValueError("memory_id must name the memory to change or delete")
        if self.event == "UPDATE" and self.previous_memory is None:
            raise ValueError("previous_memory must be the text to change")
        return self

    def proposal(self) -> Proposal:
        """This line in the type of the review queue."""
        successor = None if self.replaced_by is None else MemoryId(self.replaced_by)
        memory = Memory(
            id=new_memory_id() if self.memory_id is None else MemoryId(self.memory_id),
            text=self.memory,
            user=self.user_id,
            created_at=to_text(self.said_at or self.created_at),
            metadata=self.metadata,
            agent=self.agent_id,
            app=self.app_id,
            conversation=self.run_id,
            expires_on=self.expiration_date,
            valid_to=None if self.valid_to is None else to_text(self.valid_to),
            replaced_by=successor if self.event == "ADD" else None,
            given_origin=self.origin,
        )
        return Proposal(
            id=ProposalId(self.id or ""),
            event=self.event,
            memory=memory,
            reason=self.reason,
            proposed_at=to_text(self.created_at),
            at=None if self.at is None else to_text(self.at),
            previous_text=self.previous_memory if self.event == "UPDATE" else None,
            successor=successor if self.event == "DELETE" else None,
            model=self.model,
            session=self.session,
        )


class ImportedMemory(Body):
    """One line of `POST /api/import`: a memory as `GET /api/export` and the memory routes answer it."""

    id: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\x21-\x7e]+$")] | None = None
    memory: Annotated[str, AfterValidator(not_blank)]
    user_id: UserId
    created_at: Instant
    updated_at: Instant | None = None
    metadata: dict[str, Any] | None = None
    agent_id: Annotated[str, name_of("agent_id")] | None = None
    app_id: Annotated[str, name_of("app_id")] | None = None
    run_id: Annotated[str, name_of("run_id")] | None = None
    role: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    name: Annotated[str, Field(max_length=256)] | None = None
    expiration_date: Day | None = None
    origin: Origin | None = None

    @property
    def kept_origin(self) -> Origin:
        """Where its words come from; a line that does not tell it is an import, unless its role does."""
        by_role = "api" if self.role is None else origin_of_role(self.role)
        return self.origin or ("import" if by_role == "api" else by_role)
