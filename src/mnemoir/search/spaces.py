"""Further vector spaces: those beside the space of the embedding model, each with a model of its own.

A text has a vector in a space only if it asks for one. Stores keep the vectors by the name of the space, and the name
of the model that made each; a vector of another model counts as missing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from mnemoir.core.memories import Space
from mnemoir.ports.embedding import EmbeddingModel, Passage
from mnemoir.ports.memory_store import Unembedded
from mnemoir.search.indexing import Asks, fact_passage

MULTILINGUAL = "multilingual"  # of texts in other languages than English


def passage_of(text: Unembedded) -> Passage:
    """A stored text as it is embedded."""
    return fact_passage(text.text) if text.is_fact else Passage(text=text.text, context=text.context)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FurtherSpace:
    """A space with its model, which is loaded at its first use.

    `asks` tells whether a new text needs a vector here, given the text and whether it is a message. With
    `of_all_facts`, the first text of a user that asks has one made of each of the user's facts, now and later.
    `passage` is what the model gets of a text.
    """

    name: str
    model: EmbeddingModel
    asks: Asks
    of_all_facts: bool = False
    passage: Callable[[Unembedded], Passage] = passage_of

    @property
    def key(self) -> Space:
        """The space as index entries name it."""
        return Space(self.name, self.model.name)
