"""Forward passes of the built-in model: passages in, embeddings out, on the calling threads.

The graph quantises each token by itself (see tools/build_embedder.py), so a passage gives the same vector
alone and in any batch; batching changes the speed only.

Two definitions of a text's vector meet here. The published one is the mean over all tokens with [CLS] and
[SEP]. Inside a context that mean would mostly describe the context, so there the vector is the mean of
the text's own token vectors. The two are close but not the same: over the 200 test sentences, without
context, their cosine is 0.98 on average, under 0.94 for one in twenty and 0.61 for a single word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from mnemoir.core.errors import ProviderInvalidOutput
from mnemoir.ports.embedding import Embedding, FloatArray, Passage

DIMENSION: Final = 384
WINDOW: Final = 256
PUBLISHED_POOLING: Final = True
"""True: a text without context gets the published vector. False: it gets the mean of its own tokens."""

_ROOM = WINDOW - 2  # without [CLS] and [SEP]
_CLS, _SEP = 101, 102
_LONGEST_READ = 8_192
"""Characters beyond these cannot reach the window, unless nearly all before them are blank."""
_OFTEN_ENOUGH = 2_048
"""Characters that fill the window in most texts; read alone where they do, with the last word to spare."""
_OF_A_WORD = 128
"""Tokens that the last word, which may be cut, has at most: a longer one is a single unknown token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """The token ids of a passage with its context; `ids[start:-1]` are the text's own tokens."""

    ids: Sequence[int]
    start: int

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def own(self) -> Sequence[int]:
        return self.ids[self.start : -1]

    @property
    def has_context(self) -> bool:
        return self.start > 1


class Encoder:
    """The tokenizer and the model. The constructor loads both from a folder: about 0.15 s and 40 MiB."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._session = _open_session(folder / "model.onnx")

    def read(self, passage: Passage) -> Tokens:
        """Tokenize the text, cut at its end to fit the window, and as much of its context's end as still fits."""
        own = self._ids(passage.text[:_OFTEN_ENOUGH])
        if len(own) < _ROOM + _OF_A_WORD and len(passage.text) > _OFTEN_ENOUGH:
            own = self._ids(passage.text[:_LONGEST_READ])
        own = own[:_ROOM]
        ahead = self._ids(passage.context[-_LONGEST_READ:]) if own and passage.context else []
        kept = ahead[max(0, len(ahead) - (_ROOM - len(own))) :]
        return Tokens(ids=[_CLS, *kept, *own, _SEP], start=1 + len(kept))

    def embed(self, batch: Sequence[Tokens]) -> list[Embedding]:
        """One embedding per passage, in order. The cost is the cost of the longest passage, times their number.

        Raises ProviderInvalidOutput when a value is not finite.
        """
        pooled, hidden = self._run(batch)
        if not (np.isfinite(pooled).all() and np.isfinite(hidden).all()):
            raise ProviderInvalidOutput("The built-in embedding model gave a value that is not finite")
        return [_embedding(tokens, pooled[row], hidden[row]) for row, tokens in enumerate(batch)]

    def _ids(self, text: str) -> list[int]:
        # One text at a time, because the tokenizer starts threads for batches. It rejects half a surrogate pair,
        # which JSON can carry.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._tokenizer.encode(clean, add_special_tokens=False).ids
        return ids

    def _run(self, batch: Sequence[Tokens]) -> tuple[FloatArray, FloatArray]:
        shape = len(batch), max(len(tokens.ids) for tokens in batch)
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens.ids)] = tokens.ids
            mask[row, : len(tokens.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask}
        pooled, hidden = self._session.run(["sentence_vector", "token_vectors"], feed)
        return pooled, hidden


def _embedding(tokens: Tokens, pooled: FloatArray, hidden: FloatArray) -> Embedding:
    token_ids = np.array(tokens.own, np.uint16)
    if not token_ids.size:
        nothing = np.zeros((0, DIMENSION), np.float32)
        return Embedding(vector=np.zeros(DIMENSION, np.float32), token_ids=token_ids, token_vectors=nothing)
    rows = _unit(hidden[tokens.start : len(tokens.ids) - 1])
    published = PUBLISHED_POOLING and not tokens.has_context
    vector = pooled.copy() if published else _unit(rows.mean(axis=0))
    return Embedding(vector=vector, token_ids=token_ids, token_vectors=rows)


def _unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True).astype(np.float32)
    rows: FloatArray = vectors / np.maximum(lengths, np.float32(1e-9))
    return rows


def _open_session(model: Path) -> Any:  # onnxruntime ships no types
    """An onnxruntime session for few cores and little memory.

    Measured on two cores, onnxruntime 1.31:
    - One thread a run, and two runs at once, against two threads a run: 1.5 ms per message of 11 tokens instead of
      1.9, 6.9 instead of 8.9 for one of 54, and 0.85 of the processor time. A question of 11 tokens alone takes
      2.4 ms instead of 2.8, one of 50 tokens about as long, one of 200 a quarter longer.
    - With the arena the process ends an import at 114 MiB, without it at 131 MiB, at the same speed.
    - The graph is stored in its fastest form: the higher optimisations would only restore the slower
      SkipLayerNormalization.
    """
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.enable_mem_pattern = False  # it saves time only when all inputs have one size
    # Symlinks are resolved: the word table must lie beside the model, and an installer may have linked each file.
    return onnxruntime.InferenceSession(str(model.resolve()), options, providers=["CPUExecutionProvider"])
