"""The request bodies of the memory routes: strict types; members not listed here are ignored and have no effect."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from mnemoir.core.clock import from_text
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import KNOWN_ROLES, Kind, Origin
from mnemoir.core.retention import MOST_DAYS
from mnemoir.core.scope import entity_name, project_name
from mnemoir.core.zones import first_zone
from mnemoir.memory.facts import AddRequest, Turn
from mnemoir.ports.memory_store import ListFilter, Receipt, Visible
from mnemoir.ports.project_settings import PiiAction, Reviewed
from mnemoir.server.body import (
    LONGEST_QUERY,
    Body,
    Instant,
    LocalInstant,
    TimeZone,
    UserId,
    name_of,
    not_blank,
    strict_whole_number,
)
from mnemoir.server.memories.narrowing import InvalidFilter, Metadata, Narrowing, wanted_metadata

MOST_MESSAGES = 1000
MOST_SEARCHED = 100
DEFAULT_SEARCHED = 5
MOST_TOKENS = 100_000
MOST_BEFORE = 20
MOST_LISTED = 1000
MOST_IDS = 200
MOST_IN_BATCH = 500
LONGEST_WORDS = 1000
_LONGEST_PROMPT = 50_000
_TEXT_PARTS = ("text", "input_text", "output_text")
_OTHER_ROLE_NAMES = {"human": "user", "ai": "assistant", "model": "assistant"}  # of LangChain and Gemini
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _role(raw: str) -> str:
    """The role by the name that OpenAI's protocol has for it; a role of no protocol as it is."""
    small = raw.strip().lower()
    known = _OTHER_ROLE_NAMES.get(small, small)
    return known if known in KNOWN_ROLES else raw


def _day(raw: str) -> str:
    try:
        if not _DAY.fullmatch(raw):
            raise ValueError
        date.fromisoformat(raw)
    except ValueError:
        raise ValueError("must be a date written YYYY-MM-DD") from None
    return raw


def _joined_text(content: object) -> object:
    """Text parts joined by newlines; parts of other types hold nothing to remember and are left out."""
    if not isinstance(content, list):
        return content
    texts = []
    for part in content:
        if not isinstance(part, Mapping):
            raise ValueError("must be a string or a list of parts, each an object")
        if part.get("type", "text") in _TEXT_PARTS:
            text = part.get("text")
            if not isinstance(text, str):
                raise ValueError("a text part must have a string `text`")
            texts.append(text)
    return "\n".join(texts)


def _time(text: str) -> str:
    if from_text(text) is None:
        raise ValueError("must be an ISO 8601 time")
    return text


Tag = Annotated[str, AfterValidator(not_blank), Field(max_length=64)]
Day = Annotated[str, AfterValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
_limit = strict_whole_number(DEFAULT_SEARCHED, MOST_SEARCHED)
SearchLimit = Annotated[int, BeforeValidator(_limit, json_schema_input_type=int)]


class MessageBody(Body):
    """One message; its `name`, `timestamp` and `metadata` override those of the request.

    The roles `human`, `ai` and `model` are `user` and `assistant`. An answer that only calls tools has no `content`.
    """

    role: Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_role)]
    content: Annotated[
        str | None, BeforeValidator(_joined_text, json_schema_input_type=str | list[dict[str, Any]] | None)
    ] = None
    name: Annotated[str | None, Field(max_length=256)] = None
    timestamp: LocalInstant | None = None
    metadata: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _some_content(self) -> "MessageBody":
        if self.content is None and self.role != "assistant":
            raise ValueError("content must be a string or a list of parts; only an assistant's message may have none")
        return self

    def turn(self) -> Turn:
        """This body in fact memory's type."""
        return Turn(
            role=self.role,
            text=self.content or "",
            speaker=(self.name or "").strip() or None,
            said_at=self.timestamp,
            metadata=self.metadata,
        )


class HostedBody(Body):
    """A body that may name tenant and project by their aliases, as clients of hosted services do."""

    org_id: str | None = None
    project_id: str | None = None


class AddBody(HostedBody):
    """`POST /api/memories`. `timezone` is that of the speaker, in which a time without an offset of its own is read.

    `context` is what was said just before the messages. It makes them understandable, and nothing is learned from it:
    the last two turns of user and assistant count, of each the last 2,000 characters. With `origin`, what is kept
    word for word was written by hand, not by a client's user.
    """

    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=MOST_MESSAGES)]
    context: Annotated[list[MessageBody], Field(max_length=MOST_MESSAGES)] | None = None
    user_id: UserId
    metadata: dict[str, Any] | None = None
    infer: bool | None = True
    agent_id: Annotated[str, name_of("agent_id")] | None = None
    app_id: Annotated[str, name_of("app_id")] | None = None
    run_id: Annotated[str, name_of("run_id")] | None = None
    timestamp: LocalInstant | None = None
    timezone: Annotated[str | None, Field(max_length=64)] = None
    expiration_date: Day | None = None
    async_mode: bool | None = False
    include_usage: bool | None = False
    dry_run: bool = False
    origin: Literal["person"] | None = None

    @property
    def ignored_roles(self) -> list[str]:
        """The roles that nothing is learned from since nobody knows whose words they are, in order."""
        learned = self.infer is not False
        return list(dict.fromkeys(one.role for one in self.messages if learned and one.role not in KNOWN_ROLES))

    def request(self, receipt: Receipt | None, zone: str | None = None) -> AddRequest:
        """This body in fact memory's type. `zone` is the time zone where the body names none."""
        return AddRequest(
            turns=[message.turn() for message in self.messages],
            metadata=self.metadata,
            infer=self.infer is not False,
            said_at=self.timestamp,
            expires_on=self.expiration_date,
            receipt=receipt,
            is_by_hand=self.origin == "person",
            context=[message.turn() for message in self.context or ()],
            zone=first_zone([self.timezone, zone]),
        )


class SearchBody(HostedBody):
    """`POST /api/memories/search`. `filters` narrows by agent, app, run or metadata; other conditions are refused.

    With `max_tokens` the results are bounded by tokens (`max_fact_tokens`: those of facts), and a `limit` of 5, the
    default, bounds only where the project or the settings name a limit; what does not fit is passed over. `before` is
    what was said just before the query: it decides whom "she" means. With `at`, what was current then is found
    instead of what is now. `kind`, `origin`, `since`, `until`, `source`, `q`, `id` and `hidden` mean what they mean
    in `GET /api/memories`, and none of them goes with `at`; `by` is the time that `since` and `until` go by.
    """

    query: Annotated[str, AfterValidator(not_blank)]
    user_id: UserId
    limit: SearchLimit = DEFAULT_SEARCHED
    max_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] | None = None
    max_fact_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] | None = None
    before: Annotated[list[str], Field(max_length=MOST_BEFORE)] | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    filters: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    explain: bool | None = False
    agent_id: Annotated[str, name_of("agent_id")] | None = None
    app_id: Annotated[str, name_of("app_id")] | None = None
    run_id: Annotated[str, name_of("run_id")] | None = None
    at: Instant | None = None
    kind: Kind | None = None
    origin: Origin | None = None
    since: Instant | None = None
    until: Instant | None = None
    by: Literal["created", "updated"] | None = None
    source: str | None = None
    q: Annotated[str, Field(max_length=LONGEST_WORDS)] | None = None
    id: Annotated[list[str], Field(max_length=MOST_IDS)] | None = None
    hidden: Literal["without", "with", "only"] | None = None

    @property
    def text(self) -> str:
        """The part of the query used for the search."""
        return self.query[:LONGEST_QUERY]

    def narrowing(self) -> Narrowing:
        """The part of the user's memories to search in. Raises InvalidFilter."""
        own = {"agent_id": self.agent_id, "app_id": self.app_id, "run_id": self.run_id}
        metadata: object = self.metadata
        for field, value in (self.filters or {}).items():
            if field == "metadata":
                if metadata not in (None, value):
                    raise InvalidFilter("Filter 'metadata' contradicts the request's own metadata.", field="filters")
                metadata = value
            else:
                own[field] = _filter(field, value, own)
        return Narrowing(**own, metadata=None if metadata in (None, {}) else wanted_metadata(metadata))

    def list_filter(self, visible: Visible, metadata: Metadata | None) -> ListFilter:
        """The filter of the search; `visible` is what the owner may see."""
        return ListFilter(
            visible=visible,
            hidden=self.hidden or "without",
            kind=self.kind,
            origin=self.origin,
            since=self.since,
            until=self.until,
            session=self.source,
            words=self.q if self.q and self.q.strip() else None,
            metadata=metadata,
            ids=None if self.id is None else [MemoryId(each) for each in self.id],
            by=self.by or "created",
        )


class RecallBody(Body):
    """`POST /api/memories/recall`."""

    query: Annotated[str, AfterValidator(not_blank)]
    user_id: UserId


class EditBody(Body):
    """`PATCH /api/memories/{id}`. `updated_at` is the value the editor saw; a changed one is answered 409.

    Sending the memory's own text confirms that it still holds, and renews it. With `origin` the text is what a user
    told a program that passes it on, so it may wait for a review; without, a person wrote it by hand.
    """

    memory: Annotated[str, AfterValidator(not_blank)] | None = None
    metadata: dict[str, Any] | None = None
    updated_at: Annotated[str, AfterValidator(_time)] | None = None
    origin: Literal["user"] | None = None

    @model_validator(mode="after")
    def _told_text_alone(self) -> "EditBody":
        if self.origin is not None and (self.memory is None or "metadata" in self.model_fields_set):
            raise ValueError("origin goes with memory, the text that was told, and not with metadata")
        return self


class RestoreBody(Body):
    """`POST /api/memories/{id}/restore`. `to` is the id of the event in its history whose text is restored."""

    to: Annotated[str, Field(max_length=128)] | None = None


class MergeBody(Body):
    """`POST /api/memories/merge`: `keep` stays, with the text `memory` or its own; the other `ids` are deleted."""

    user_id: UserId
    ids: Annotated[list[str], Field(min_length=2, max_length=100)]
    keep: str
    memory: Annotated[str, AfterValidator(not_blank)] | None = None


class TagsBody(Body):
    """Tags to add, and tags to take away; a tag has 1 to 64 characters."""

    add: list[Tag] = Field(default_factory=list, max_length=20)
    remove: list[Tag] = Field(default_factory=list, max_length=20)


class BatchBody(Body):
    """`POST /api/memories/batch`: the memories, and the one thing that is done with all of them.

    `expiration_date` is their last day, null for none; `project` the one they are moved to.
    """

    user_id: UserId
    ids: Annotated[list[str], Field(min_length=1, max_length=MOST_IN_BATCH)]
    delete: Literal[True] | None = None
    tags: TagsBody | None = None
    expiration_date: Day | None = None
    project: Annotated[str, AfterValidator(project_name)] | None = None

    @field_validator("delete", "tags", "project", mode="before")
    @classmethod
    def _check_given(cls, value: object) -> object:
        if value is None or type(value) in (int, float):  # 1 equals true
            raise ValueError("must be no null and no number; leave out what is not to be done")
        return value

    @model_validator(mode="after")
    def _one_thing(self) -> "BatchBody":
        if len(self.model_fields_set & {"delete", "tags", "expiration_date", "project"}) != 1:
            raise ValueError("must name one of delete, tags, expiration_date and project")
        if self.tags is not None and not (self.tags.add or self.tags.remove):
            raise ValueError("tags must name a tag in add or in remove")
        return self


class ProposalBody(Body):
    """`PATCH /api/memories/proposals/{id}`."""

    memory: Annotated[str, AfterValidator(not_blank)]


class ProposalsBody(Body):
    """`POST /api/memories/proposals/approve` and `/refuse`: the proposals with these ids, or with `all` every one."""

    user_id: UserId
    ids: Annotated[list[str], Field(min_length=1, max_length=1000)] | None = None
    all: bool | None = False

    @model_validator(mode="after")
    def _one_of_both(self) -> "ProposalsBody":
        if (self.ids is None) == (self.all is not True):
            raise ValueError("give either ids, or all: true")
        return self


class PromptBody(Body):
    """`PUT /api/memories/extraction-prompt`."""

    prompt: Annotated[str, Field(max_length=_LONGEST_PROMPT), AfterValidator(not_blank)]


Days = Annotated[int, Field(ge=0, le=MOST_DAYS)]


class SettingsBody(Body):
    """`PUT /api/memories/settings`, any subset; null removes the project's own value.

    Days of 0 keep for ever.
    """

    memoryEnabled: bool | None = None
    decayDays: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)] | None = None
    searchLimit: Annotated[int, Field(ge=0, le=MOST_SEARCHED)] | None = None
    review: Reviewed | None = None
    piiFacts: PiiAction | None = None
    piiMessages: PiiAction | None = None
    piiModels: PiiAction | None = None
    memoriesDays: Days | None = None
    historyDays: Days | None = None
    timeZone: TimeZone | None = None
    deletedDays: Days | None = None


def _filter(field: str, value: object, own: Mapping[str, str | None]) -> str:
    if field not in own:
        allowed = ", ".join((*own, "metadata"))
        raise InvalidFilter(f"Filter {field[:64]!r} is not supported. Use one of: {allowed}.", field="filters")
    if not isinstance(value, str) or value == "*":
        raise InvalidFilter(f"Filter {field!r} must be one id, written as a string.", field="filters")
    if own[field] not in (None, value):
        raise InvalidFilter(f"Filter {field!r} contradicts the request's own {field}.", field="filters")
    return entity_name(value, field)
