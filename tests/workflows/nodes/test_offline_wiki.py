"""The offline Wikipedia nodes."""

import pytest

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.nodes.offline_wiki import (
    OfflineWikiApiBestFullArticle,
    OfflineWikiApiFullArticle,
    OfflineWikiApiPartialArticle,
    OfflineWikiApiTopNFullArticles,
)
from tests.scripted_llm import closed_port_url
from tests.workflows.nodes.scripted_wikipedia import ScriptedWikipedia

KINDS = [
    OfflineWikiApiFullArticle,
    OfflineWikiApiBestFullArticle,
    OfflineWikiApiTopNFullArticles,
    OfflineWikiApiPartialArticle,
]
ARTICLES = [{"title": "Pea", "text": "A plant."}, {"title": "Bean", "text": "Another."}]


@pytest.fixture
async def wikipedia(bench):
    async with ScriptedWikipedia() as server:
        bench.settings = {
            "useOfflineWikiApi": True,
            "offlineWikiApiHost": "127.0.0.1",
            "offlineWikiApiPort": server.port,
        }
        bench.outputs = {1: "What are peas & beans?"}
        yield server


@pytest.mark.parametrize(
    ("kind", "said", "found", "path", "query", "output"),
    [
        (OfflineWikiApiFullArticle, {}, ARTICLES, "/articles", {"percentile": "0.5", "num_results": "1"}, "A plant."),
        (
            OfflineWikiApiBestFullArticle,
            {},
            ARTICLES[0],
            "/top_article",
            {"percentile": "0.5", "num_results": "10"},
            "A plant.",
        ),
        (
            OfflineWikiApiTopNFullArticles,
            {},
            ARTICLES,
            "/top_n_articles",
            {"percentile": "0.5", "num_results": "10", "num_top_articles": "3"},
            "Title: Pea\nA plant.\n\n--- END ARTICLE ---\n\nTitle: Bean\nAnother.",
        ),
        (
            OfflineWikiApiTopNFullArticles,
            {"percentile": 0.4, "num_results": "{n}", "top_n_articles": -2},
            ARTICLES[:1],
            "/top_n_articles",
            {"percentile": "0.4", "num_results": "7", "num_top_articles": "-2"},
            "Title: Pea\nA plant.",
        ),
        (
            OfflineWikiApiPartialArticle,
            {},
            ARTICLES,
            "/summaries",
            {"percentile": "0.5", "num_results": "1"},
            "Title: Pea\nA plant.\n\n--- END SUMMARY ---\n\nTitle: Bean\nAnother.",
        ),
        (
            OfflineWikiApiPartialArticle,
            {"percentile": "much", "num_results": 2},
            ARTICLES[:1],
            "/summaries",
            {"percentile": "0.5", "num_results": "2"},
            "Title: Pea\nA plant.",
        ),
    ],
)
async def test_each_node_asks_its_own_route_and_returns_the_articles(
    bench, wikipedia, kind, said, found, path, query, output
):
    wikipedia.answer, bench.variables = found, {"n": 7}
    assert await bench.run(kind, promptToSearch="{agent1Output}", **said) == output
    assert wikipedia.asked == [(path, {"prompt": "What are peas & beans?", **query})]


@pytest.mark.parametrize("kind", KINDS)
async def test_an_article_without_a_text_gives_a_sentence(bench, wikipedia, kind):
    wikipedia.answer = [{"title": "Pea"}]
    assert (await bench.run(kind, promptToSearch="peas")).endswith("No text element found")


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [*zip(KINDS, ["No articles", "No article", "No articles", "Title: Not Found\nNo summaries"], strict=True)],
)
@pytest.mark.parametrize(("status", "found"), [(404, {"detail": "none"}), (200, [])])
async def test_no_results_give_a_sentence(bench, wikipedia, kind, sentence, status, found):
    wikipedia.status, wikipedia.answer = status, found
    rest = "The information may not be available in the offline database."
    assert await bench.run(kind, promptToSearch="peas") == f"{sentence} found for 'peas'. {rest}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", [{"status": 500}, {"body": b"<html>"}, {"answer": ["a"]}, {"answer": 7}])
async def test_a_failing_service_is_an_apology_and_a_note(bench, wikipedia, kind, answer):
    for member, value in answer.items():
        setattr(wikipedia, member, value)
    assert await bench.run(kind, promptToSearch="peas") == (
        "I'm sorry, I couldn't find any Wikipedia information about 'peas'."
    )
    assert len(bench.step.trace.notes) == 1


async def test_a_service_that_is_not_there_is_an_apology(bench):
    port = int(closed_port_url().rpartition(":")[2])
    bench.settings = {"useOfflineWikiApi": True, "offlineWikiApiPort": port}
    assert (await bench.run(OfflineWikiApiFullArticle, promptToSearch="peas")).startswith("I'm sorry")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_service_that_is_switched_off_is_not_asked(bench, wikipedia, kind):
    bench.settings["useOfflineWikiApi"] = False
    title = "Title: Offline Wiki Disabled\n" if kind is OfflineWikiApiPartialArticle else ""
    assert await bench.run(kind, promptToSearch="peas") == f"{title}No additional information provided"
    assert wikipedia.asked == []


async def test_an_invalid_host_is_an_apology(bench, wikipedia):
    bench.settings["offlineWikiApiHost"] = "no host\n"
    assert (await bench.run(OfflineWikiApiFullArticle, promptToSearch="peas")).startswith("I'm sorry")


async def test_without_a_config_tree_there_is_no_service_to_ask(bench, wikipedia):
    await bench.run(OfflineWikiApiFullArticle, promptToSearch="peas")
    bench.step.run.turn.user = None
    with pytest.raises(SettingsError, match="--config-dir"):
        _ = bench.step.user
