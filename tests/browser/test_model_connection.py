"""A language model is connected in the page: found when it starts, tested, used, and in force in the next chat."""

import pytest
from playwright.async_api import expect

from tests.browser.conftest import OpenWindow, StartSite, each_look
from tests.scripted_llm import Answer, ScriptedLLM
from tests.serving import free_port


@each_look
async def test_a_model_that_starts_later_is_connected_from_the_empty_chat_on(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    port = free_port()
    given = {"llm.provider": "auto", "llm.model": None, "llm.api_key": None, "llm.base_url": None}
    site = await start_site(given | {"llm.ollama_url": f"http://127.0.0.1:{port}"})
    async with ScriptedLLM() as later:
        await later.stop()
        window = await open_window(site)
        page = await window.go("/")
        await page.get_by_role("link", name="Connect a model").click()
        await expect(page.get_by_role("heading", name="No language model is connected")).to_be_visible()
        await window.has_no_barrier()
        later.models, later.default = ["llama3.2:latest"], Answer(text="Hello from far away.")
        await later.start(port)
        await page.get_by_role("button", name="Use llama3.2:latest").click()
        await expect(page.get_by_role("heading", name="llama3.2:latest")).to_be_visible()
        await page.get_by_role("button", name="Test", exact=True).click()
        await expect(page.get_by_text("llama3.2:latest answered in")).to_be_visible()
        await window.has_no_barrier()
        page = await window.go("/")
        await expect(page.get_by_text("No language model is connected")).to_have_count(0)
        await page.get_by_role("textbox", name="Message").fill("Hello")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("Hello from far away.")).to_be_visible()


@pytest.mark.slow
async def test_an_embedding_model_is_tested_and_saved_for_the_next_start(
    start_site: StartSite, open_window: OpenWindow
) -> None:
    site = await start_site()
    window = await open_window(site)
    page = await window.go("/connect?part=model")
    await page.get_by_role("button", name="Change embedding model").click()
    form = page.get_by_role("form", name="Embedding model")
    await form.get_by_text("OpenAI or compatible").click()
    await form.get_by_role("textbox", name="Address").fill(site.llm.openai_url)
    await form.get_by_role("combobox", name="Model").fill("far-vectors")
    await form.get_by_role("button", name="Test", exact=True).click()
    await expect(form.get_by_text("dimensions, in")).to_be_visible()
    await window.has_no_barrier()
    await form.get_by_role("button", name="Save").click()
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Restart Mnemoir to switch")).to_be_visible()
    await window.has_no_barrier()
