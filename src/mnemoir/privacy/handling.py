"""Applies a project's policy to facts and messages, before anything of them is stored.

The same value has the same placeholder in all that is stored of a user, so a history that a client sends again is the
history that was stored, and a question finds the facts that it is about.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mnemoir.core.conversations import Message
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.events import Emit, Event, Reply
from mnemoir.core.messages import ChatRequest, ModelRequest
from mnemoir.core.messages import Message as ModelMessage
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Project
from mnemoir.ports.personal_values import PersonalValue, PersonalValues, Place
from mnemoir.ports.project_settings import PiiAction, ProjectSettings, ProjectSettingsStore
from mnemoir.privacy.detection import Finding, Rules
from mnemoir.privacy.placeholders import Change, Placeholders, values_in
from mnemoir.privacy.policy import NO_POLICY, PersonalDataRefused, Policy, in_force
from mnemoir.privacy.requests import RestoredEvents, changed_reply, changed_request, reply_texts, request_texts
from mnemoir.privacy.stored_messages import changed_message, texts_of

_MOST_KNOWN = 1000  # clients may name any project


@dataclass(slots=True, kw_only=True)
class Handled:
    """A chat as it may be stored and answered. `kinds` are those found in it, `placeholders` what was replaced."""

    chat: ChatRequest
    action: PiiAction = "off"
    kinds: Sequence[str] = ()
    values: Sequence[PersonalValue] = ()
    placeholders: Placeholders | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalDataOptions:
    """The server's policy, for projects without one of their own; `restores` turns answers back for clients."""

    default: Policy = NO_POLICY
    restores: bool = True
    reversible: bool = False


class PersonalData:
    """Serves every user. `rules` gives the rules at the first use. Raises StorageUnavailable and ModuleFailed."""

    def __init__(
        self,
        rules: Callable[[], Rules],
        projects: ProjectSettingsStore,
        values: PersonalValues,
        options: PersonalDataOptions,
    ) -> None:
        self._rules = rules
        self._projects = projects
        self._values = values
        self._options = options
        self._last: dict[Project, tuple[Policy, ProjectSettings]] = {}  # as they were read, with what they are of

    async def policy(self, project: Project) -> Policy:
        """The policy of a project."""
        own, default = await self._projects.load(project), self._options.default
        known, read = self._last.get(project, (None, None))
        if known is not None and read is own:
            return known
        policy = Policy(
            facts=own.pii_facts or default.facts,
            messages=own.pii_messages or default.messages,
            models=own.pii_models or default.models,
        )
        if len(self._last) >= _MOST_KNOWN and project not in self._last:
            self._last.clear()
        self._last[project] = policy, own
        return policy

    async def enter(self, scope: Scope) -> Policy:
        """The policy of the scope's project, in force from now on for calls of models in this context."""
        policy = await self.policy(Project(tenant=scope.tenant, project=scope.project))
        in_force.set(policy)
        return policy

    async def chat(self, chat: ChatRequest, scope: Scope, *, is_kept: bool, learns: bool) -> Handled:
        """The chat as it goes on, before anything of it is stored and any model is called.

        `learns`: facts are derived from it. Raises PersonalDataRefused.
        """
        policy = await self._enter_chat(scope)
        if policy == NO_POLICY:
            return Handled(chat=chat)
        is_looked_at = policy.messages != "off" or policy.models == "block"
        texts = [*request_texts(chat.request), chat.unmarked_prompt or ""] if is_looked_at else []
        found = await self._findings_in(texts)
        kinds = _kinds(found)
        if kinds and policy.models == "block":
            raise PersonalDataRefused(kinds, "what models are sent")
        if kinds and policy.messages == "block":
            raise PersonalDataRefused(kinds, "messages")
        if policy.facts == "block" and learns:
            await self._refuse_question(chat)
        if policy.messages != "redact":
            return Handled(chat=chat, action=policy.messages, kinds=kinds)
        placeholders, values = await self._placeholders(scope, texts, found, "messages" if is_kept else None)
        if self._options.reversible and self._options.restores:
            placeholders.know(await self._values.originals(scope))
        return Handled(
            chat=await asyncio.to_thread(_changed_chat, chat, self._replacing(placeholders)) if kinds else chat,
            action="redact",
            kinds=kinds,
            values=values,
            placeholders=placeholders,
        )

    async def _enter_chat(self, scope: Scope) -> Policy:
        """`enter` for a chat, which goes on by the policy that was read last while storage is away."""
        try:
            return await self.enter(scope)
        except StorageUnavailable:
            policy, _ = self._last.get(Project(tenant=scope.tenant, project=scope.project), (None, None))
            if policy is None:
                raise
            in_force.set(policy)
            return policy

    async def conversation(
        self, scope: Scope, messages: Sequence[ModelMessage] | None, is_kept: bool
    ) -> Sequence[ModelMessage] | None:
        """Messages from which memories are made anew, as those of a chat. Raises PersonalDataRefused."""
        chat = ChatRequest(request=ModelRequest(messages=messages or ()), stream=False)
        handled = await self.chat(chat, scope, is_kept=is_kept, learns=False)
        return None if messages is None else handled.chat.request.messages

    def restoring(self, handled: Handled, emit: Emit) -> Emit:
        """An `emit` for the client of the chat, which turns the answer back."""
        placeholders = handled.placeholders
        if not placeholders or not self._options.restores:
            return emit
        events = RestoredEvents(placeholders)

        async def emit_with_values(batch: Sequence[Event]) -> None:
            if certain := events.take(batch):
                await emit(certain)

        return emit_with_values

    async def said_in(self, handled: Handled, scope: Scope) -> None:
        """Note that the values of the chat were said in the scope's conversation, which was not known before."""
        if handled.values:
            await self._values.said_in(scope, handled.values)

    async def answer(self, handled: Handled, reply: Reply, scope: Scope) -> Reply:
        """The answer as it is stored: where messages are redacted or blocked, without personal data."""
        if handled.action not in ("redact", "block"):
            return reply
        texts = reply_texts(reply)
        found = await self._findings_in(texts)
        if not any(found):
            return reply
        placeholders, _ = await self._placeholders(scope, texts, found, "messages")
        return await asyncio.to_thread(changed_reply, reply, self._replacing(placeholders))

    async def texts(self, scope: Scope, texts: Sequence[str], place: Place) -> list[str]:
        """Texts as they are stored in facts or messages. Raises PersonalDataRefused."""
        policy = await self.enter(scope)
        action = policy.facts if place == "facts" else policy.messages
        if action in ("off", "tag") or not texts:
            return list(texts)
        found = await self._findings_in(texts)
        if action == "block" and (kinds := _kinds(found)):
            raise PersonalDataRefused(kinds, place)
        return await self._redact_texts(scope, texts, found, place)

    async def take_along(self, source: Scope, target: Scope, texts: Sequence[str]) -> list[str]:
        """Facts of one project as another one stores them. Raises PersonalDataRefused.

        Where that one has placeholders, too, their values become its own: the same number stands for another value
        there, or for none.
        """
        policy = await self.policy(Project(tenant=target.tenant, project=target.project))
        if policy.facts == "redact":
            known = Placeholders()
            known.know(await self._values.originals(source))
            texts = [known.with_values(text) for text in texts]
        return await self.texts(target, texts, "facts")

    async def messages(self, scope: Scope, messages: Sequence[Message], *, is_kept: bool = True) -> list[Message]:
        """Messages as they are stored in the scope's conversation. Raises PersonalDataRefused."""
        action = (await self.enter(scope)).messages
        if action in ("off", "tag"):
            return list(messages)
        texts = texts_of(messages)
        found = await self._findings_in(texts)
        kinds = _kinds(found)
        if action == "block" and kinds:
            raise PersonalDataRefused(kinds, "messages")
        if not kinds:
            return list(messages)
        placeholders, _ = await self._placeholders(scope, texts, found, "messages" if is_kept else None)
        change = self._replacing(placeholders)
        return await asyncio.to_thread(lambda: [changed_message(message, change) for message in messages])

    async def query(self, scope: Scope, texts: Sequence[str], place: Place) -> list[str]:
        """What is searched for, in the words that are stored. Nothing is stored."""
        policy = await self.enter(scope)
        if (policy.facts if place == "facts" else policy.messages) != "redact":
            return list(texts)
        return await self._redact_texts(scope, texts, await self._findings_in(texts), None)

    async def tags(self, scope: Scope, texts: Sequence[str], place: Place) -> list[Sequence[str]]:
        """The kinds that stand in each text, where they are to be tagged; none otherwise."""
        policy = await self.enter(scope)
        if (policy.facts if place == "facts" else policy.messages) != "tag":
            return [() for _ in texts]
        return [_kinds([found]) for found in await self._findings_in(texts)]

    async def _redact_texts(
        self, scope: Scope, texts: Sequence[str], found: Sequence[Sequence[Finding]], place: Place | None
    ) -> list[str]:
        if not any(found):
            return list(texts)
        placeholders, _ = await self._placeholders(scope, texts, found, place)
        return [placeholders.with_placeholders(text, each) for text, each in zip(texts, found, strict=True)]

    async def _findings_in(self, texts: Sequence[str]) -> list[Sequence[Finding]]:
        rules = self._rules()
        return await asyncio.to_thread(lambda: [rules.find(text) for text in texts])

    async def _placeholders(
        self, scope: Scope, texts: Sequence[str], found: Sequence[Sequence[Finding]], place: Place | None
    ) -> tuple[Placeholders, Sequence[PersonalValue]]:
        """The placeholders of what was found; numbers of new values are stored for a place."""
        made = Placeholders()
        pairs = zip(texts, found, strict=True)
        values = list(dict.fromkeys(value for text, each in pairs for value in values_in(text, each)))
        for value, number in zip(values, await self._values.numbers(scope, values, place), strict=True):
            made.number(value, number)
        return made, values

    def _replacing(self, placeholders: Placeholders) -> Change:
        rules = self._rules()
        return lambda text: placeholders.with_placeholders(text, rules.find(text))

    async def _refuse_question(self, chat: ChatRequest) -> None:
        question = next((one.text for one in reversed(chat.request.messages) if one.role == "user"), "")
        if kinds := _kinds(await self._findings_in([question])):
            raise PersonalDataRefused(kinds, "facts")


def _changed_chat(chat: ChatRequest, change: Change) -> ChatRequest:
    prompt = chat.unmarked_prompt
    return replace(
        chat,
        request=changed_request(chat.request, change),
        unmarked_prompt=None if prompt is None else change(prompt),
    )


def _kinds(found: Sequence[Sequence[Finding]]) -> list[str]:
    return sorted({one.kind for each in found for one in each})
