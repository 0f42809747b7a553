"""Applies the saved embedding model below file, environment and command line.

Without a saved one and without a setting, the built-in model is used, so "built-in" is never saved.
"""

from mnemoir.settings.saved_model import SavedEmbedder, SavedModel, origin_of
from mnemoir.settings.tree import Settings


def with_embedding(settings: Settings, saved: SavedModel[SavedEmbedder] | None) -> Settings:
    """The settings with the saved embedding model, where file, environment and command line leave it open.

    A key given there goes to the address given there only.
    """
    own, given = settings.embedding, settings.source.given
    if saved is None or not is_in_force(settings, saved):
        return settings
    url = own.base_url if own.base_url is not None and "embedding.base_url" in given else saved.url
    changes: dict[str, object] = {"provider": saved.provider, "base_url": url}
    if "embedding.model" not in given:
        changes["model"] = saved.model
    if own.api_key is None or origin_of(url) != origin_of(settings.embedding_url):
        changes["api_key"] = saved.key if origin_of(url) == origin_of(saved.url) else None
    return settings.model_copy(update={"embedding": own.model_copy(update=changes)})


def is_in_force(settings: Settings, saved: SavedModel[SavedEmbedder]) -> bool:
    """False when file, environment or command line name another provider."""
    return fixed_provider(settings) in (None, saved.provider)


def fixed_provider(settings: Settings) -> str | None:
    """The provider that file, environment or command line name; None for none."""
    return settings.embedding.provider if "embedding.provider" in settings.source.given else None
