"""Creation of a strategy from its name in the settings."""

from mnemoir.conversations.windows.counters import CHARS4, TokenCounter
from mnemoir.conversations.windows.strategies.summarising import SummaryOptions
from mnemoir.conversations.windows.strategies.summarization import SummarizationStrategy
from mnemoir.conversations.windows.strategies.tail import SimpleStrategy, Strategy, StrategyName
from mnemoir.core.errors import SettingsError


def strategy_named(
    name: StrategyName, options: SummaryOptions | None = None, *, counter: TokenCounter = CHARS4
) -> Strategy:
    """The strategy. `counter` is used without `options`, which have their own counter.

    Raises SettingsError for an unknown name, and for "summarization" without options.
    """
    if name == "simple":
        return SimpleStrategy(counter=options.counter if options else counter)
    if name == "hybrid":
        from mnemoir.conversations.windows.strategies.hybrid import (
            HybridStrategy,  # its patterns take 25 ms to compile
        )

        return HybridStrategy(options, counter=counter)
    if name != "summarization":
        raise SettingsError(f"The strategy {name!r:.40} is not known; choose simple, summarization or hybrid.")
    if options is None:
        raise SettingsError('The strategy "summarization" needs a summariser; give one, or choose "simple".')
    return SummarizationStrategy(options)
