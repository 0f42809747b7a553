"""A conversation that people edit, shorten, branch and go back in: every settled message in one live chunk, once."""

import random

import pytest

from mnemoir.core.messages import Message
from mnemoir.memory.discussions.parts import Made
from tests.memory.discussions.making_kit import POLICY, STORES, Memory, said

STEPS = 40
BEGINNING = 8  # messages that stay: a conversation without them may as well be a shortened one, or another
SHORT = ("ok", "yes", "go on")


class Conversation:
    """Messages as their client has them; `view` is what it sends."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._said = 0
        self.texts = [self._new_text() for _ in range(BEGINNING)]
        self.view = list(self.texts)
        self._branches: list[list[str]] = []

    def step(self) -> None:
        """Something that people do; most often they say more."""
        action = self.rng.choice(
            [self.say] * 4 + [self.edit, self.delete, self.insert, self.regenerate, self.go_back]
        )
        action()
        self.view = list(self.texts)

    def say(self) -> None:
        self.texts += [self._text() for _ in range(self.rng.randint(1, 4))]

    def edit(self) -> None:
        self._branches.append(list(self.texts))
        self.texts[self.rng.randrange(len(self.texts))] = self._new_text()

    def delete(self) -> None:
        if len(self.texts) > BEGINNING:
            self._branches.append(list(self.texts))
            del self.texts[self.rng.randrange(BEGINNING, len(self.texts))]

    def insert(self) -> None:
        self.texts.insert(self.rng.randint(BEGINNING, len(self.texts)), self._text())

    def regenerate(self) -> None:
        self._branches.append(list(self.texts))
        del self.texts[max(BEGINNING, len(self.texts) - self.rng.randint(1, 12)) :]
        self.say()

    def go_back(self) -> None:
        if self._branches:
            self.texts = list(self.rng.choice(self._branches[-3:]))

    def shorten(self) -> None:
        self.view = self.texts[self.rng.randrange(len(self.texts)) :]

    def messages(self) -> list[Message]:
        return said(*self.view)

    def _text(self) -> str:
        return self.rng.choice(SHORT) if self.rng.random() < 0.4 else self._new_text()

    def _new_text(self) -> str:
        self._said += 1
        return f"{self._said}. " + "word " * self.rng.randint(1, 12)


def stands_in(chunk: list[str], texts: list[str]) -> bool:
    return any(texts[at : at + len(chunk)] == chunk for at in range(len(texts)))


async def make_and_check(memory: Memory, conversation: Conversation) -> Made:
    """One making: text that is gone is in no live chunk after it, and chunks still in view are not read again."""
    live = [chunk for chunk in await memory.chunks() if not set(chunk) <= set(SHORT)]
    memory.read.clear()
    made = await memory.make(conversation.messages())
    assert not {"\n".join(chunk) for chunk in live if stands_in(chunk, conversation.view)} & set(memory.read)
    for chunk in await memory.chunks():
        assert stands_in(chunk, conversation.texts)
    return made


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("seed", range(15))
async def test_every_settled_message_is_in_one_live_chunk_and_none_is_read_twice(tmp_path, kind, seed):
    conversation = Conversation(random.Random(seed))
    memory = Memory(root=tmp_path, kind=kind)
    for _ in range(STEPS):
        conversation.step()
        await make_and_check(memory, conversation)
        if conversation.rng.random() < 0.2:
            await memory.aclose()
            memory.restart()
        if conversation.rng.random() < 0.2:
            conversation.shorten()
            assert (await make_and_check(memory, conversation)).stale == 0
    conversation.texts += [f"the end {n}" for n in range(8)]
    conversation.view = list(conversation.texts)
    await make_and_check(memory, conversation)
    covered = await memory.covered()
    assert covered == conversation.texts[: len(covered)]
    assert len(conversation.texts) - len(covered) < POLICY.lookback + POLICY.most_messages
    await memory.aclose()
