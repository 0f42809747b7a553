"""The offline model, which has no neural network: facts, decisions and summaries by rule, chat by quoted memories."""

from mnemoir.providers.llm.offline.model import OfflineModel, summarise

__all__ = ["OfflineModel", "summarise"]
