"""One browser for all of these tests, one event loop, and a server for each file."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright, expect

from mnemoir.app.parts import open_parts
from mnemoir.server import ServerOptions, create_app
from mnemoir.settings import load_settings
from tests.browser.late import LateAnswers, slow_down
from tests.browser_kit import ARGUMENTS, CHROMIUM, Profile, Site, Window, opened
from tests.scripted_llm import ScriptedLLM
from tests.server.server_kit import asks, listening

_HERE = Path(__file__).parent
_TIMEOUT_MS = 60_000  # it ends what hangs: many of these may run at once on a small machine
_LATE_TIMEOUT_MS = 120_000
# a page lives for a second here: to optimise its program costs more than that gives. (With
# --disable-threaded-compositing a load costs a fifth less, and some pages never draw again.)
_ARGUMENTS = (*ARGUMENTS, "--process-per-site", "--js-flags=--no-opt --no-maglev")

OpenWindow = Callable[..., Awaitable[Window]]
StartSite = Callable[..., Awaitable[Site]]

# a test of what a page looks like: in its first look with all other tests, in all of its looks with the slow ones
each_look = pytest.mark.parametrize(
    "open_window",
    [pytest.param(1, id="first-look"), pytest.param(None, id="all-looks", marks=pytest.mark.slow)],
    indirect=True,
)


@pytest.fixture(scope="session", autouse=True)
def _patience(pytestconfig: pytest.Config) -> None:
    """How long every `expect` waits for what it expects."""
    expect.set_options(timeout=_timeout_ms(pytestconfig))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser belongs to a loop, so all tests here run in the same; what they cost is not measured."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            item.add_marker(pytest.mark.costly("a browser draws pages, and most of what that costs is its own"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def profile() -> AsyncIterator[Profile]:
    """A profile of a Chromium without a screen, in which all pages of a server share a process."""
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=_ARGUMENTS)
        yield Profile(chromium)
        await chromium.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def start_site(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[StartSite]:
    """Starts servers that last as long as the file of tests; settings as dotted keys, options by name.

    With `quick_vectors` the scripted model makes them, without meaning: for a test with thousands of texts.
    """
    async with contextlib.AsyncExitStack() as running:

        async def start(
            settings: dict[str, Any] | None = None, *, quick_vectors: bool = False, **options: Any
        ) -> Site:
            llm = await running.enter_async_context(ScriptedLLM())
            data = tmp_path_factory.mktemp("site") / "data"
            served = asks(llm) | (embeds(llm) if quick_vectors else {})
            quiet = {"server.generated_titles": False}  # a title must not take what a test queues for the next answer
            given = {"storage.data_dir": str(data)} | quiet | served | (settings or {})
            parts = await open_parts(load_settings(None, given, environ={}))
            running.push_async_callback(parts.aclose)
            await parts.start()
            serving = ServerOptions(**options)
            app = create_app(parts, serving)
            shown = LateAnswers(app, _seed(pytestconfig)) if pytestconfig.getoption("late") else app
            url = await running.enter_async_context(listening(shown, serving))
            return Site(url=url, parts=parts, llm=llm)

        yield start


def _timeout_ms(config: pytest.Config) -> int:
    return _LATE_TIMEOUT_MS if config.getoption("late") else _TIMEOUT_MS


def _seed(config: pytest.Config) -> int:
    """Of the order of tests; 0 where that is not random."""
    return int(config.getoption("randomly_seed", 0))


def embeds(llm: ScriptedLLM) -> dict[str, Any]:
    """Settings of a server whose vectors are made by the model, which does so in no time."""
    at = {"base_url": llm.openai_url, "api_key": "sk-canary-3141592653", "model": "far-model"}
    return {"embedding.provider": "openai"} | {f"embedding.{name}": value for name, value in at.items()}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site(start_site: StartSite) -> Site:
    """A keyless server whose model is scripted, for this file of tests."""
    return await start_site()


@pytest_asyncio.fixture(loop_scope="session")
async def open_window(request: pytest.FixtureRequest, profile: Profile) -> AsyncIterator[OpenWindow]:
    """Opens windows: `await open_window(site, scheme="dark", size=PHONE)`, `await open_window(site, alone=True)`.

    The mark `each_look` limits the looks that `has_no_barrier` goes through.
    """
    most_looks = getattr(request, "param", None)
    async with contextlib.AsyncExitStack() as windows:

        async def start(site: Site, **look: Any) -> Window:
            window = await windows.enter_async_context(opened(profile, site.url, most_looks=most_looks, **look))
            window.page.set_default_timeout(_timeout_ms(request.config))
            if request.config.getoption("late"):
                await slow_down(window.page)
            return window

        yield start
