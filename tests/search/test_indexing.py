"""Index entries of many texts are made a part at a time: vectors of tokens are large until they are packed."""

from collections.abc import Sequence

from mnemoir.ports.embedding import Embedding, Passage
from mnemoir.search import Indexing
from tests.search.hashed_words import HashedWords


class CountedWords(HashedWords):
    """Notes how many passages it is given at once."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[int] = []

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        self.given.append(len(passages))
        return await super().embed(passages)


async def test_many_texts_are_embedded_in_parts_and_keep_their_order() -> None:
    model, texts = CountedWords(), [Passage(text=f"note {number}") for number in range(600)]
    entries = await Indexing(model).entries(texts)
    assert model.given == [256, 256, 88]
    assert [entries[number] for number in (0, 256, 599)] == await Indexing(model).entries(
        [texts[0], texts[256], texts[599]]
    )
