"""Whether a person asks in a chat to have something forgotten: "Please forget that I live in Graz."

No model can delete a memory, so the page offers it. The words stand in a table, `forget_requests.toml`.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

from mnemoir.core.sentences import sentences_of
from mnemoir.privacy.spellings import without_accents

_MOST_READ = 2000  # characters of a message, which may be a pasted document


def asks_to_forget(text: str) -> bool:
    """True when a sentence of the text asks to forget what is remembered."""
    begins = _beginnings()
    return any(
        begins.match(without_accents(sentence).replace("’", "'")) for sentence in sentences_of(text[:_MOST_READ])
    )


@cache
def _beginnings() -> re.Pattern[str]:
    tables = tomllib.loads((files(__package__) / "forget_requests.toml").read_text(encoding="utf-8")).values()
    each = [rf"(?:(?:{one['lead']})[\s,]+){{0,4}}(?:{one['asks']})(?!\w)" for one in tables]
    return re.compile(rf"[\W_]*(?:{'|'.join(each)})".replace("\n", ""))
