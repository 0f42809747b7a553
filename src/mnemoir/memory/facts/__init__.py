"""Facts: short statements about a user, extracted from what was said, reconciled with what is known.

`Facts` is the front. It knows a store, a search and a model by their ports only.
"""

from mnemoir.memory.facts.decide.decay import Freshness, freshness
from mnemoir.memory.facts.decide.resemblance import Duplicates
from mnemoir.memory.facts.extract.extraction import default_extraction_prompt
from mnemoir.memory.facts.extract.requests import (
    AddRequest,
    AddResult,
    FactSettings,
    TokenLimits,
    Turn,
    unknown_memory,
)
from mnemoir.memory.facts.facts import Facts
from mnemoir.memory.facts.write.curation import Curation, Edit

__all__ = [
    "AddRequest",
    "AddResult",
    "Curation",
    "Duplicates",
    "Edit",
    "FactSettings",
    "Facts",
    "Freshness",
    "TokenLimits",
    "Turn",
    "default_extraction_prompt",
    "freshness",
    "unknown_memory",
]
