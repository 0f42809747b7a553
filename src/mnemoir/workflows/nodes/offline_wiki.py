"""The offline Wikipedia nodes: articles or summaries for a text, from a service on the user's own network.

A service that is switched off, finds nothing or fails never ends a run: the output is then a fixed sentence. The
sentences are exactly those of the format, because prompts and conditions of existing trees search for them.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import Field

from mnemoir.core.errors import ProviderError, ProviderInvalidOutput
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import Count, NodeProperties, ValueNode
from mnemoir.workflows.step import Step

_OFF = "No additional information provided"
_NOT_THERE = "The information may not be available in the offline database."
_NO_TEXT = "No text element found"


class Properties(NodeProperties):
    """Properties of every offline Wikipedia node."""

    prompt: Line = Field(alias="promptToSearch", description="What to look for, with variables.")


class SummaryProperties(Properties):
    """Properties of an OfflineWikiApiPartialArticle node."""

    percentile: float | str = Field(0.5, description="How near an article must be, from 0 to 1.")
    num_results: Count = Field(1, description="How many summaries.")


class TopProperties(Properties):
    """Properties of an OfflineWikiApiTopNFullArticles node."""

    percentile: float | str = Field(0.5, description="How near an article must be, from 0 to 1.")
    num_results: Count = Field(10, description="How many articles to choose from.")
    top_n_articles: Count = Field(3, description="How many to give; a negative number gives the best one last.")


P = TypeVar("P", bound=Properties)


class _OfflineWiki(ValueNode[P]):
    """A query of `path`. `nothing` begins the sentence for no results; `off` is the output when switched off."""

    filled = ("promptToSearch",)
    path: str
    nothing: str
    off: str = _OFF

    async def value(self, step: Step) -> str:
        """The text, or a sentence in its place."""
        settings = step.user.settings
        if not settings.uses_wikipedia:
            return self.off
        prompt = step.fill(self.properties.prompt)
        place = f"http://{settings.wikipedia_host}:{settings.wikipedia_port}"
        try:
            found = await self.services.wikipedia.get(place, self.path, {"prompt": prompt, **self.query(step)})
            articles = _articles(found)
        except ProviderError as exc:
            step.note(exc.message)
            return f"I'm sorry, I couldn't find any Wikipedia information about '{prompt}'."
        return self.output(articles) if articles else f"{self.nothing} found for '{prompt}'. {_NOT_THERE}"

    @abstractmethod
    def query(self, step: Step) -> Mapping[str, str]:
        """The query parameters beside the prompt."""

    @abstractmethod
    def output(self, articles: Sequence[Mapping[str, Any]]) -> str:
        """The output for at least one article."""


class OfflineWikiApiFullArticle(_OfflineWiki[Properties]):
    """The text of the first article."""

    kind = "OfflineWikiApiFullArticle"
    properties_type = Properties
    path = "/articles"
    nothing = "No articles"

    def query(self, step: Step) -> Mapping[str, str]:
        """One result."""
        return {"percentile": "0.5", "num_results": "1"}

    def output(self, articles: Sequence[Mapping[str, Any]]) -> str:
        """Its text alone."""
        return _text(articles[0])


class OfflineWikiApiBestFullArticle(_OfflineWiki[Properties]):
    """The text of the best of ten articles."""

    kind = "OfflineWikiApiBestFullArticle"
    properties_type = Properties
    path = "/top_article"
    nothing = "No article"

    def query(self, step: Step) -> Mapping[str, str]:
        """Ten results to choose from."""
        return {"percentile": "0.5", "num_results": "10"}

    def output(self, articles: Sequence[Mapping[str, Any]]) -> str:
        """Its text alone."""
        return _text(articles[0])


class OfflineWikiApiTopNFullArticles(_OfflineWiki[TopProperties]):
    """The best articles, with their titles."""

    kind = "OfflineWikiApiTopNFullArticles"
    properties_type = TopProperties
    path = "/top_n_articles"
    nothing = "No articles"

    def query(self, step: Step) -> Mapping[str, str]:
        """The parameters as given by the node."""
        said = self.properties
        return {
            "percentile": _share(step, said.percentile),
            "num_results": str(step.count(said.num_results, 10, "num_results")),
            "num_top_articles": str(step.count(said.top_n_articles, 3, "top_n_articles")),
        }

    def output(self, articles: Sequence[Mapping[str, Any]]) -> str:
        """In the order the service gave them."""
        return "\n\n--- END ARTICLE ---\n\n".join(map(_text_with_title, articles))


class OfflineWikiApiPartialArticle(_OfflineWiki[SummaryProperties]):
    """Summaries of articles, with their titles."""

    kind = "OfflineWikiApiPartialArticle"
    properties_type = SummaryProperties
    path = "/summaries"
    nothing = "Title: Not Found\nNo summaries"
    off = f"Title: Offline Wiki Disabled\n{_OFF}"

    def query(self, step: Step) -> Mapping[str, str]:
        """The parameters as given by the node."""
        said = self.properties
        return {
            "percentile": _share(step, said.percentile),
            "num_results": str(step.count(said.num_results, 1, "num_results")),
        }

    def output(self, articles: Sequence[Mapping[str, Any]]) -> str:
        """In the order the service gave them."""
        return "\n\n--- END SUMMARY ---\n\n".join(map(_text_with_title, articles))


def _articles(found: object) -> list[Mapping[str, Any]]:
    """The articles in the service's answer, which is one object or a list; [] for None, which means no results."""
    if found is None:
        return []
    articles: list[Any] = found if isinstance(found, list) else [found]
    if not all(isinstance(article, dict) for article in articles):
        raise ProviderInvalidOutput("The offline Wikipedia gave something that is no article.")
    return articles


def _text_with_title(article: Mapping[str, Any]) -> str:
    return f"Title: {article.get('title') or 'Untitled Article'}\n{_text(article)}"


def _text(article: Mapping[str, Any]) -> str:
    text = article.get("text")
    return _NO_TEXT if text is None else str(text)


def _share(step: Step, percentile: float | str) -> str:
    try:
        return str(percentile if isinstance(percentile, float) else float(step.early(percentile)))
    except ValueError:
        step.note(f"percentile is {percentile!r}, which is no number; 0.5 was taken.")
        return "0.5"
