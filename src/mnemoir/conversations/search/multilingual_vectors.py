"""Makes the multilingual vectors of messages that are not English."""

import asyncio

import structlog

from mnemoir.conversations.search.embedding import in_loop
from mnemoir.conversations.search.session_search import SearchHost
from mnemoir.conversations.search.vectors import IndexedVectors
from mnemoir.core.errors import ProviderError
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.search.language import is_surely_english

_log = structlog.get_logger(__name__)
_PAGE = 256


class MultilingualVectors:
    """Follows the writes of one vector store. Its method blocks on the store."""

    def __init__(self, store: IndexedVectors, model: EmbeddingModel, loop: asyncio.AbstractEventLoop) -> None:
        """The model is called in `loop`."""
        self._store = store
        self._model = model
        self._loop = loop

    async def fill(self) -> bool:
        """Look at a page of messages, and embed those that are not surely English; True when more are left.

        When the model fails they are left for the next opening of the store. Raises StorageUnavailable.
        """
        unseen = self._store.unseen(self._model.name, _PAGE)
        if not unseen.texts:
            return False
        foreign = [text for text in unseen.texts if not is_surely_english(text.document)]
        try:
            made = await in_loop(self._loop, self._model.embed([Passage(text=text.document) for text in foreign]))
        except ProviderError as exc:
            _log.warning("messages without a multilingual vector", cause=exc.message)
            return False
        vectors = {text.id: each.vector for text, each in zip(foreign, made, strict=True)}
        self._store.store_second_vectors(unseen, vectors)
        return not unseen.is_last


def multilingual_vectors(host: SearchHost | None, store: IndexedVectors | None) -> MultilingualVectors | None:
    """Those of a host that has a multilingual model, in a store that can keep them."""
    if host is None or host.multilingual is None or store is None:
        return None
    return MultilingualVectors(store, host.multilingual.embedding, host.loop)
