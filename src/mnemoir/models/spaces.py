"""The further vector spaces that there are. A new one is one more entry in the list."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import aiohttp

from mnemoir.core.errors import SettingsError
from mnemoir.core.owning import Own
from mnemoir.models.roles import ModelRole, MultilingualRole
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.ports.memory_store import Unembedded
from mnemoir.search.language import is_surely_english
from mnemoir.search.spaces import MULTILINGUAL, FurtherSpace, passage_of
from mnemoir.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceEntry:
    """A further space: its name in the tables, the role of its model, and the texts that need a vector.

    `asks` gets the settings, a new text, and whether this is a message. The rest is as in `FurtherSpace`. A role
    without a model leaves the space out.
    """

    name: str
    role: type[ModelRole[EmbeddingModel | None]]
    asks: Callable[[Settings, str, bool], bool]
    of_all_facts: bool = False
    passage: Callable[[Unembedded], Passage] = passage_of

    async def open(self, settings: Settings, session: aiohttp.ClientSession) -> FurtherSpace | None:
        """The space with its model, which is not loaded yet; None without one. Raises SettingsError."""
        model = (await self.role(settings, session).open()).model
        if model is None:
            return None
        return FurtherSpace(
            name=self.name,
            model=model,
            asks=lambda text, is_message: self.asks(settings, text, is_message),
            of_all_facts=self.of_all_facts,
            passage=self.passage,
        )


def _is_foreign(settings: Settings, text: str, is_message: bool) -> bool:
    """True for texts that are not surely English, and by the setting `always` for all facts."""
    return (settings.embedding.multilingual == "always" and not is_message) or not is_surely_english(text)


SPACES: Sequence[SpaceEntry] = (
    SpaceEntry(name=MULTILINGUAL, role=MultilingualRole, asks=_is_foreign, of_all_facts=True),
)


async def open_spaces(settings: Settings, session: aiohttp.ClientSession, own: Own) -> list[FurtherSpace]:
    """The spaces in use. Raises SettingsError for two of one name."""
    [(name, count)] = Counter(entry.name for entry in SPACES).most_common(1) or [("", 0)]
    if count > 1:
        raise SettingsError(f"Two vector spaces have the name {name!r}. Give one of them another name.")
    found = [space for entry in SPACES if (space := await entry.open(settings, session)) is not None]
    for space in found:
        own(space.model)
    return found
