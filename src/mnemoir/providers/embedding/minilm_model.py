"""The built-in embedding model: all-MiniLM-L6-v2 in int8."""

import os
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from mnemoir.ports.embedding import EmbeddingModel
from mnemoir.providers.embedding.model_thread import ThreadedModel

if TYPE_CHECKING:
    from mnemoir.providers.embedding.minilm_encoder import Encoder, Tokens  # noqa: F401 - Tokens is in the base of MiniLM


class MiniLM(ThreadedModel["Tokens"]):
    """all-MiniLM-L6-v2 in int8: 384 dimensions, 256 tokens, token vectors included.

    Uses no memory until it is first used or warmed; about 65 MiB from then on, runtime included.
    """

    name = "all-MiniLM-L6-v2-int8"
    dimension = 384
    reads_context = True

    def __init__(self, *, folder: Path | None = None, threads: int | None = None) -> None:
        """Defaults: the model folder of the package, and two threads on two or more cores."""
        folder = folder or Path(str(files("mnemoir.providers.embedding"))) / "minilm"
        lanes = threads or min(2, os.cpu_count() or 1)
        super().__init__(partial(_load, folder), label="The built-in embedding model", lanes=lanes)


@lru_cache(maxsize=1)  # immutable, so the whole process shares one: it takes 0.1 s and 40 MiB
def _load(folder: Path) -> "Encoder":
    # Imported here, in the thread: onnxruntime and the model take half a second, too long for the event loop.
    from mnemoir.providers.embedding.minilm_encoder import Encoder

    return Encoder(folder)


_: type[EmbeddingModel] = MiniLM  # checked, never run
