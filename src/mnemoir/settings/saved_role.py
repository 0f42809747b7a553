"""Where the settings of a model stand by its role, and what a saved model changes in them.

What file, environment or command line set comes first. Without a saved embedding model and without a setting the
built-in one is used, so "built-in" is never saved.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from mnemoir.settings.saved_model import EMBEDDING_MODEL, LANGUAGE_MODEL, ModelFile, SavedModel, origin_of
from mnemoir.settings.tree import Embedding, Llm, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRole:
    """The section of one role's settings, and the file of its saved model.

    `ollama_address` is the setting with the address of an Ollama; that of other servers is `base_url`. The key of the
    settings is for the address that `key_url` gives.
    """

    section: Literal["llm", "embedding"]
    file: ModelFile
    ollama_address: Literal["ollama_url", "base_url"]
    key_url: Callable[[Settings], str]

    def own(self, settings: Settings) -> Llm | Embedding:
        """The section."""
        return settings.llm if self.section == "llm" else settings.embedding

    def key(self, name: str) -> str:
        """The full name of a setting."""
        return f"{self.section}.{name}"

    def address(self, provider: str) -> str:
        """The setting with the address of a server of this protocol."""
        return self.ollama_address if provider == "ollama" else "base_url"

    def fixed_provider(self, settings: Settings) -> str | None:
        """The protocol that file, environment or command line name; None for none and for `auto`."""
        provider: str | None = self._given_value(settings, "provider")
        return None if provider == "auto" else provider

    def is_in_force(self, settings: Settings, saved: SavedModel) -> bool:
        """False when file, environment or command line name another protocol."""
        return self.fixed_provider(settings) in (None, saved.provider)

    def settings_with(self, settings: Settings, saved: SavedModel | None) -> Settings:
        """The settings with the saved model, where file, environment and command line leave it open.

        A key given there goes to the address given there only.
        """
        if saved is None or not self.is_in_force(settings, saved):
            return settings
        own, at = self.own(settings), self.address(saved.provider)
        url = self._given_value(settings, at) or saved.url
        changes: dict[str, object] = {"provider": saved.provider, at: url}
        if self.key("model") not in settings.source.given:
            changes["model"] = saved.model
        if own.api_key is None or origin_of(url) != origin_of(self.key_url(settings)):
            changes["api_key"] = saved.key if origin_of(url) == origin_of(saved.url) else None
        return settings.model_copy(update={self.section: own.model_copy(update=changes)})

    def _given_value(self, settings: Settings, name: str) -> Any:
        """The value that file, environment or command line give a setting; None without one."""
        return getattr(self.own(settings), name) if self.key(name) in settings.source.given else None


SAVED_CHAT = SavedRole(
    section="llm",
    file=LANGUAGE_MODEL,
    ollama_address="ollama_url",
    key_url=lambda settings: settings.llm.base_url,
)
SAVED_EMBEDDING = SavedRole(
    section="embedding",
    file=EMBEDDING_MODEL,
    ollama_address="base_url",
    key_url=lambda settings: settings.embedding_url,
)
