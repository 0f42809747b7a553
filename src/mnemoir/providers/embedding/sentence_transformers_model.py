"""Embedding models of the sentence-transformers library, which is an optional extra.

The library is imported and the model is loaded on first use, in the one thread that runs all its work: the import
takes seconds and hundreds of megabytes, and a second thread would only compete for the same cores.
"""

import asyncio
import importlib.util
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mnemoir.core.errors import ProviderError, ProviderInvalidOutput, ProviderNotConfigured, ProviderUnavailable
from mnemoir.ports.embedding import Embedding, EmbeddingModel, FloatArray, Passage


class SentenceTransformersModel:
    """A model of the library. It gives sentence vectors only and ignores context.

    The constructor raises ProviderNotConfigured when the extra is missing.
    """

    reads_context: ClassVar[bool] = False

    def __init__(self, model_name: str, *, device: str | None = None, cache_dir: str | Path | None = None) -> None:
        """Without `device` or `cache_dir` the library chooses them."""
        if importlib.util.find_spec("sentence_transformers") is None:
            raise ProviderNotConfigured(
                f"The embedding model {model_name} needs an extra that is not installed. "
                "Install it with: pip install 'mnemoir[sentence-transformers]'."
            )
        self._model_name = model_name
        self._device = device
        self._cache_dir = None if cache_dir is None else str(Path(cache_dir).expanduser())
        self._model: Any = None  # the library ships no types
        self._dimension: int | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sentence-transformers")

    @property
    def name(self) -> str:
        """For example `sentence-transformers:all-mpnet-base-v2`."""
        return f"sentence-transformers:{self._model_name}"

    @property
    def dimension(self) -> int | None:
        """Numbers per vector; None until the first embedding."""
        return self._dimension

    async def embed(self, passages: Sequence[Passage]) -> list[Embedding]:
        """One embedding per passage, made in the model's own thread."""
        if not passages:
            return []
        texts = [passage.text for passage in passages]
        vectors = await asyncio.get_running_loop().run_in_executor(self._thread, self._encode, texts)
        return [Embedding(vector=vector) for vector in vectors]

    async def warm(self) -> None:
        """Load the model."""
        await self.embed([Passage(text="ready")])

    async def aclose(self) -> None:
        """Release the model and end its thread; queued calls are cancelled."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._model = None

    def _encode(self, texts: list[str]) -> FloatArray:
        try:
            model = self._loaded_model()
            made = model.encode(texts, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
        except ProviderError:
            raise
        except Exception as exc:  # torch and the model's own code may raise any exception
            raise ProviderUnavailable(f"The embedding model {self.name} failed: {exc}") from exc
        vectors = np.asarray(made, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise ProviderInvalidOutput(f"The embedding model {self.name} gave values that are not finite vectors.")
        self._dimension = vectors.shape[1]
        return vectors

    def _loaded_model(self) -> Any:
        if self._model is None:
            from sentence_transformers import SentenceTransformer  # see the module docstring

            self._model = SentenceTransformer(self._model_name, device=self._device, cache_folder=self._cache_dir)
        return self._model


_: type[EmbeddingModel] = SentenceTransformersModel  # checked, never run
