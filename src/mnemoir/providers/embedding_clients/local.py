"""Embedding clients that run in this process: the built-in model and the sentence-transformers library."""

import importlib.util
from pathlib import Path
from typing import Final

from mnemoir.conversations.search.embedding import EmbeddingClient, ModelEmbeddingClient, usable_model_name
from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.providers.embedding.minilm_model import MiniLM

DEFAULT_MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"
_DIMENSIONS = {
    DEFAULT_MODEL: 384,
    "all-MiniLM-L6-v2": 384,
    "all-mpnet-base-v2": 768,
    "sentence-transformers/all-mpnet-base-v2": 768,
}


class BuiltInEmbedding(ModelEmbeddingClient):
    """The packaged all-MiniLM-L6-v2: 384 dimensions, loaded on first use, run in a thread of its own."""

    def __init__(self) -> None:
        super().__init__(MiniLM())


class SentenceTransformerEmbedding(ModelEmbeddingClient):
    """A model of sentence-transformers, loaded on first use, run in a thread of its own.

    Without the extra the built-in copy serves the default model; `model_name` then shows its name.
    """

    def __init__(
        self, model_name: str = DEFAULT_MODEL, device: str | None = None, cache_dir: str | Path | None = None
    ) -> None:
        """`device` is the hardware the model runs on, such as "cpu" or "cuda"; without it the library chooses.

        `cache_dir` is the folder of its files. The built-in copy ignores both. Raises
        ProviderNotConfigured for any other model when the extra is missing, SettingsError for a blank name.
        """
        usable_model_name(model_name, type(self).__name__)
        super().__init__(_model(model_name, device, cache_dir))
        self._known = _DIMENSIONS.get(model_name)

    @property
    def dimension(self) -> int:
        """Numbers per vector: known at once for the usual models, for others after the first embedding."""
        return self._known if self._known is not None else super().dimension


def _model(name: str, device: str | None, cache_dir: str | Path | None) -> EmbeddingModel:
    if name == DEFAULT_MODEL and importlib.util.find_spec("sentence_transformers") is None:
        return MiniLM()
    from mnemoir.providers.embedding.sentence_transformers_model import SentenceTransformersModel

    return SentenceTransformersModel(name, device=device, cache_dir=cache_dir)


_: tuple[type[EmbeddingClient], ...] = (BuiltInEmbedding, SentenceTransformerEmbedding)  # checked, never run
