"""The values that connecting a model takes and gives. None of them holds a key that is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.settings.saved_model import SavedEmbedder, SavedProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedModel:
    """A model to try or to save. `key` None keeps the key that is stored for the address, "" drops it."""

    provider: str
    url: str
    model: str
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedValue:
    """A setting that is not changed here, and its file, variable or command line; `value` is None for a key."""

    key: str
    value: str | None
    set_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsed:
    """The model in use. `url` is None for the offline model."""

    provider: str
    model: str
    url: str | None
    has_key: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingUsed(ModelUsed):
    """An embedding model that is, or will be, in use. `url` is None for one in this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saved:
    provider: str
    model: str
    url: str
    has_key: bool
    in_force: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSaved(_Saved):
    """The model that was saved; not `in_force` where file, environment or command line name another protocol."""

    provider: SavedProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSaved(_Saved):
    """The saved embedding model; not `in_force` where file, environment or command line name another provider."""

    provider: SavedEmbedder


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSetup:
    """The language model in use, what was saved, and what is set elsewhere."""

    in_use: ModelUsed
    saved: ModelSaved | None
    fixed: Sequence[FixedValue]
    ollama_url: str
    serves_tree: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSetup:
    """The embedding model in use, what was saved, and what is set elsewhere.

    With `restart_needed`, the next start uses `after_restart`; else that is the model in use. The addresses are those
    that the settings give to the servers of either protocol.
    """

    in_use: EmbeddingUsed
    after_restart: EmbeddingUsed
    restart_needed: bool
    saved: EmbeddingSaved | None
    fixed: Sequence[FixedValue]
    openai_url: str
    ollama_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTest:
    """How one question went. `latency_ms` is the time of the whole answer, `status` that of a refusal."""

    ok: bool
    provider: str
    model: str
    url: str | None
    latency_ms: float
    status: int | None = None
    problem: str = ""
    to_do: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingTest:
    """How embedding one short text went. `dimension` is the length of its vector, None without one."""

    ok: bool
    model: str
    url: str | None
    dimension: int | None
    latency_ms: float
    status: int | None = None
    problem: str = ""
    to_do: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsOffered:
    """The models that a server lists; with a problem, none."""

    models: Sequence[str]
    problem: str = ""
    to_do: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaFound:
    """The models of an Ollama that was not there at the start. `looked` is False where there is no need to look."""

    looked: bool
    url: str
    models: Sequence[str] = ()
