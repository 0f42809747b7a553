"""The built-in model that needs no model: facts, decisions and summaries by rule, chat by quoting memories."""

from mnemoir.providers.llm.offline.model import OfflineModel
from mnemoir.providers.llm.offline.summary import summarise

__all__ = ["OfflineModel", "summarise"]
