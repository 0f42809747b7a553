"""Questions as vectors: by the main embedding model, and by the multilingual one where a user needs it.

An English question of a user whose facts are all English loads neither the language detector nor the multilingual
model. The first question in another language marks the user: from then on each fact gets a vector of that model.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import structlog

from mnemoir.core.errors import ProviderError, StorageUnavailable
from mnemoir.core.memories import Space
from mnemoir.core.scope import Scope
from mnemoir.ports.embedding import Embedding, EmbeddingModel, FloatArray, Passage
from mnemoir.ports.languages import KeptLanguages
from mnemoir.search.language import ENGLISH, UNKNOWN, UNSERVED, Languages
from mnemoir.search.spaces import MULTILINGUAL

LANGUAGE = "language"  # in `degraded`
_CACHED = 64
_MOST_CACHED_TOKENS = 64
_log = structlog.get_logger(__name__)


class EmbeddedQuestions:
    """The embeddings of questions by one model; keeps those of the last few short ones."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model
        self._kept: OrderedDict[str, Embedding] = OrderedDict()

    async def embeddings_of(self, texts: Sequence[str]) -> list[Embedding] | None:
        """The embeddings of a question's phrasings, in order; None when the model fails."""
        known = {text: self._kept[text] for text in texts if text in self._kept}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        try:
            made = await self._model.embed([Passage(text=text) for text in missing]) if missing else []
        except ProviderError:
            return None
        known |= zip(missing, made, strict=True)
        for text in texts:
            self._keep(text, known[text])
        return [known[text] for text in texts]

    def _keep(self, text: str, embedding: Embedding) -> None:
        if embedding.token_ids is None or len(embedding.token_ids) <= _MOST_CACHED_TOKENS:
            self._kept[text] = embedding
            self._kept.move_to_end(text)
            if len(self._kept) > _CACHED:
                self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True, eq=False)
class MultilingualQuery:
    """A question for the multilingual model, which counts `share`; without a vector it has no say.

    `as_own` is the vector of the question as its user would ask it, for facts, if that is another text. The share is
    1 where the main model does not know the `language`.
    """

    vector: FloatArray | None = None
    as_own: FloatArray | None = None
    share: float = 0.0
    degraded: tuple[str, ...] = ()
    language: str = ENGLISH


NOT_MULTILINGUAL = MultilingualQuery()


class Multilingual:
    """Decides which questions need the multilingual model, and marks the users whose facts need its vectors."""

    def __init__(
        self,
        model: EmbeddingModel,
        want: Callable[[Scope], Awaitable[bool]] | None = None,
        note_pending: Callable[[], None] = lambda: None,
        languages: KeptLanguages | None = None,
        *,
        always: bool = False,
        patience_s: float | None = None,
    ) -> None:
        """`want` marks a user; without it nobody is marked. `note_pending` is called when vectors are to be made.

        `languages` keep the last one of each user; without them this process does.

        With `always`, English questions count as others.

        A search waits for detector and model `patience_s` seconds at most, without end when it is None. Both load
        at their first use; they continue to load for the searches behind one that did not wait.
        """
        self._always = always
        self._patience_s = patience_s
        self.embedding = model
        self._want = want
        self._questions = EmbeddedQuestions(model)
        self._note_pending = note_pending
        self._languages = Languages(languages)

    @property
    def space(self) -> Space:
        """The vector space of the questions."""
        return Space(MULTILINGUAL, self.embedding.name)

    async def query(
        self, scope: Scope, asked: str, phrasings: Sequence[str], *, is_in_use: bool, english_share: float
    ) -> MultilingualQuery:
        """The query for a question as `asked`. Its `phrasings` are embedded; a second one is the user's own.

        English questions need it only where `is_in_use` says that the user has vectors of that model.
        """
        deadline = None if self._patience_s is None else asyncio.get_running_loop().time() + self._patience_s
        language = UNKNOWN
        try:
            async with asyncio.timeout_at(deadline):
                language = await self._languages.of(scope, asked)
            if language != ENGLISH or self._always:
                await self._mark(scope)
            async with asyncio.timeout_at(deadline):
                await self._languages.note(scope, asked, language)
                if language == ENGLISH and not self._always and not is_in_use:
                    return NOT_MULTILINGUAL
                embeddings = await self._questions.embeddings_of(phrasings)
        except (TimeoutError, StorageUnavailable):  # without the rows the search itself will not succeed, either
            embeddings = None
        if embeddings is None:
            return MultilingualQuery(degraded=(LANGUAGE,), language=language)
        share = english_share if language in (ENGLISH, UNSERVED) else 1.0
        return MultilingualQuery(
            vector=embeddings[0].vector,
            as_own=embeddings[1].vector if len(embeddings) > 1 else None,
            share=share,
            degraded=(LANGUAGE,) if language == UNSERVED else (),
            language=language,
        )

    async def likeness(self, pairs: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], float]:
        """The cosines of pairs of texts; empty when the model fails."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        try:
            made = await self.embedding.embed([Passage(text=text) for text in texts])
        except ProviderError as exc:
            _log.warning("texts cannot be compared", error=exc.message)
            return {}
        vectors = {text: embedding.vector for text, embedding in zip(texts, made, strict=True)}
        return {pair: float(vectors[pair[0]] @ vectors[pair[1]]) for pair in pairs}

    def note_pending(self) -> None:
        """Have the missing vectors made."""
        self._note_pending()

    async def _mark(self, scope: Scope) -> None:
        if self._want is None:
            return
        try:
            if await self._want(scope):
                self._note_pending()
        except StorageUnavailable as exc:  # the search itself may still succeed
            _log.warning("multilingual vectors cannot be asked for", error=exc.message)
