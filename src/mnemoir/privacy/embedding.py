"""An embedding model over a network that is sent kinds in place of personal data.

Numbers would make texts about one thing less alike, and a text must have the same vector each time it is embedded.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from mnemoir.ports.embedding import Embedding, EmbeddingModel, Passage
from mnemoir.privacy.detection import Rules


class DiscreetEmbedding:
    """`rules` gives the rules at the first use. The caller closes the model by this one."""

    def __init__(self, model: EmbeddingModel, rules: Callable[[], Rules]) -> None:
        self._model = model
        self._rules = rules

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def dimension(self) -> int | None:
        return self._model.dimension

    @property
    def reads_context(self) -> bool:
        return self._model.reads_context

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """See the port."""
        return await self._model.embed(await asyncio.to_thread(self._without, passages))

    async def warm(self) -> None:
        await self._model.warm()

    async def aclose(self) -> None:
        await self._model.aclose()

    def _without(self, passages: Sequence[Passage]) -> list[Passage]:
        return [replace(one, text=self._kinds_in(one.text), context=self._kinds_in(one.context)) for one in passages]

    def _kinds_in(self, text: str) -> str:
        pieces, done = [], 0
        for one in self._rules().find(text):
            pieces += [text[done : one.start], f"[{one.kind}]"]
            done = one.end
        return "".join([*pieces, text[done:]])


_: type[EmbeddingModel] = DiscreetEmbedding  # checked, never run
