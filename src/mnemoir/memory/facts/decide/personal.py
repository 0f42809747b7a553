"""The personal data of facts: what of a request may be remembered, and the tags of what is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mnemoir.core.memories import UNCHANGED, Add, Change, Memory, Update
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.extract.requests import AddRequest, Statement
from mnemoir.ports.memory_store import ListFilter, MemoryStore
from mnemoir.privacy.handling import PersonalData

TAG = "personal_data"  # the member of a memory's metadata that lists the kinds in its text


class FactPolicy:
    """Applies the policy of a scope's project; without `personal` nothing is done. Raises PersonalDataRefused."""

    def __init__(self, personal: PersonalData | None, store: MemoryStore) -> None:
        self._personal = personal
        self._store = store

    async def request(self, scope: Scope, request: AddRequest) -> AddRequest:
        """The request with turns as they may be remembered, and shown to the model that extracts facts."""
        if self._personal is None:
            return request
        every = [*request.context, *request.turns]
        said = [text for turn in every for text in (turn.text, turn.speaker or "")]
        texts = await self._personal.texts(_within(scope, request), said, "facts")
        turns = [
            replace(turn, text=text, speaker=speaker or turn.speaker)
            for turn, text, speaker in zip(every, texts[::2], texts[1::2], strict=True)
        ]
        before = len(request.context)
        return replace(request, context=turns[:before], turns=turns[before:])

    async def statements(self, scope: Scope, request: AddRequest, facts: list[Statement]) -> list[Statement]:
        """The facts that a model found, which may have put together what no turn held."""
        if self._personal is None:
            return facts
        texts = await self._personal.texts(_within(scope, request), [fact.text for fact in facts], "facts")
        return [replace(fact, text=text) for fact, text in zip(facts, texts, strict=True)]

    async def text(self, scope: Scope, text: str) -> str:
        """A text that a person gave a memory."""
        return text if self._personal is None else (await self._personal.texts(scope, [text], "facts"))[0]

    async def memories(self, scope: Scope, memories: list[Memory]) -> list[Memory]:
        """Memories of an import."""
        if self._personal is None:
            return memories
        texts = await self._personal.texts(scope, [one.text for one in memories], "facts")
        return [replace(one, text=text) for one, text in zip(memories, texts, strict=True)]

    async def take_along(self, source: Scope, target: Scope, memories: Sequence[Memory]) -> list[Memory]:
        """Memories of one project as another one stores them."""
        if self._personal is None:
            return list(memories)
        texts = await self._personal.take_along(source, target, [one.text for one in memories])
        return [replace(one, text=text) for one, text in zip(memories, texts, strict=True)]

    async def query(self, scope: Scope, texts: Sequence[str]) -> Sequence[str]:
        """Questions in the words of what is stored."""
        return texts if self._personal is None else await self._personal.query(scope, texts, "facts")

    async def with_stored_words(self, scope: Scope, wanted: ListFilter) -> ListFilter:
        """The filter with its search words replaced by the placeholders that stored texts have."""
        if wanted.words is None:
            return wanted
        [words] = await self.query(scope, [wanted.words])
        return replace(wanted, words=words)

    async def changes_with_tags(self, scope: Scope, changes: Sequence[Change]) -> Sequence[Change]:
        """The changes, with the kinds of personal data in the metadata of added and rewritten memories."""
        if self._personal is None or (await self._personal.enter(scope)).facts != "tag":
            return changes
        tags = await self._personal.tags(scope, [_text(change) for change in changes], "facts")
        return [
            await self._change_with_tags(scope, change, kinds) for change, kinds in zip(changes, tags, strict=True)
        ]

    async def _change_with_tags(self, scope: Scope, change: Change, kinds: Sequence[str]) -> Change:
        if isinstance(change, Add):
            return replace(change, memory=replace(change.memory, metadata=_with_tag(change.memory.metadata, kinds)))
        if not isinstance(change, Update) or (change.text == change.expected and change.metadata is UNCHANGED):
            return change
        given = change.metadata
        if given is UNCHANGED:
            before = await self._store.get(scope.owner, change.target)
            if before is None:
                return change  # it is restored in the same step, with its metadata
            given = before.metadata
        wanted = _with_tag(given, kinds)
        return change if wanted == given else replace(change, metadata=wanted)


def _within(scope: Scope, request: AddRequest) -> Scope:
    """The scope with the conversation of the turns, with which the values behind placeholders are forgotten."""
    return replace(scope, conversation=request.session or scope.conversation)


def _text(change: Change) -> str:
    if isinstance(change, Add):
        return change.memory.text
    return change.text if isinstance(change, Update) else ""


def _with_tag(metadata: Mapping[str, Any] | None, kinds: Sequence[str]) -> Mapping[str, Any] | None:
    """The metadata with these kinds as the tag; without any, the tag of a former text is left out."""
    if kinds:
        return {**(metadata or {}), TAG: list(kinds)}
    if metadata is None or TAG not in metadata:
        return metadata
    return {name: value for name, value in metadata.items() if name != TAG} or None
