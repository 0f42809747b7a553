"""The personal data of facts: what of a request may be remembered, and the tags of what is."""

from collections.abc import Sequence
from dataclasses import replace

from mnemoir.core.memories import UNCHANGED, Add, Change, Memory, Update
from mnemoir.core.scope import Scope
from mnemoir.memory.facts.requests import AddRequest, Statement
from mnemoir.ports.memory_store import ListFilter
from mnemoir.privacy.handling import PersonalData

TAG = "personal_data"  # the member of a memory's metadata that lists the kinds in its text


class FactPolicy:
    """Applies the policy of a scope's project; without `personal` nothing is done. Raises PersonalDataRefused."""

    def __init__(self, personal: PersonalData | None) -> None:
        self._personal = personal

    async def request(self, scope: Scope, request: AddRequest) -> AddRequest:
        """The request with turns as they may be remembered, and shown to the model that extracts facts."""
        if self._personal is None:
            return request
        said = [text for turn in request.turns for text in (turn.text, turn.speaker or "")]
        texts = await self._personal.texts(_within(scope, request), said, "facts")
        turns = [
            replace(turn, text=text, speaker=speaker or turn.speaker)
            for turn, text, speaker in zip(request.turns, texts[::2], texts[1::2], strict=True)
        ]
        return replace(request, turns=turns)

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

    async def query(self, scope: Scope, texts: Sequence[str]) -> Sequence[str]:
        """Questions in the words of what is stored."""
        return texts if self._personal is None else await self._personal.query(scope, texts, "facts")

    async def listed(self, scope: Scope, wanted: ListFilter) -> ListFilter:
        """The filter of a list, with its words as they are stored."""
        if wanted.words is None:
            return wanted
        [words] = await self.query(scope, [wanted.words])
        return replace(wanted, words=words)

    async def tagged(self, scope: Scope, changes: Sequence[Change]) -> Sequence[Change]:
        """The changes, with the kinds of personal data in the metadata of what is added or rewritten."""
        if self._personal is None:
            return changes
        texts = [_text(change) for change in changes]
        tags = await self._personal.tags(scope, texts, "facts")
        return [_tagged(change, kinds) if kinds else change for change, kinds in zip(changes, tags, strict=True)]


def _within(scope: Scope, request: AddRequest) -> Scope:
    """The scope with the conversation of the turns, with which the values behind placeholders are forgotten."""
    return replace(scope, conversation=request.session or scope.conversation)


def _text(change: Change) -> str:
    if isinstance(change, Add):
        return change.memory.text
    return change.text if isinstance(change, Update) else ""


def _tagged(change: Change, kinds: Sequence[str]) -> Change:
    if isinstance(change, Add):
        metadata = {**(change.memory.metadata or {}), TAG: list(kinds)}
        return replace(change, memory=replace(change.memory, metadata=metadata))
    if isinstance(change, Update) and change.metadata is not UNCHANGED:
        return replace(change, metadata={**(change.metadata or {}), TAG: list(kinds)})
    return change
