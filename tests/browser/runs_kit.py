"""A server with a workflow that runs another, and chats sent to it."""

from typing import Any

import aiohttp

from tests.browser.conftest import StartSite
from tests.browser_kit import Site
from tests.scripted_llm import ScriptedLLM
from tests.tree_kit import answers, asks, user, write_tree

INNER = [
    asks("Plan", "Sum up what **{chat_user_prompt_last_one}** asks for."),
    asks("Check the plan", "Is this wise: {agent1Output}?"),
]
CHAT = [
    {"title": "Remember what matters", "type": "Recall"},
    {"title": "Think first", "type": "CustomWorkflow", "workflowName": "Thinking"},
    answers("Answer", "Plan: {agent2Output}. Question: {chat_user_prompt_last_one}; again {agent2Output}."),
    {"title": "Keep", "type": "Remember"},
    asks("Afterthought", "Anything about {agent3Output}?"),
]


async def start_tree(start_site: StartSite, tmp_path: Any, llm: ScriptedLLM, **options: Any) -> Site:
    """A server over a config tree of one user, Mira, whose endpoints `llm` plays."""
    files = {
        "Users/mira.json": user(),
        "Workflows/Mira/Chat.json": CHAT,
        "Workflows/Mira/Thinking.json": INNER,
    }
    public = write_tree(tmp_path / "Public", llm.url, files)
    return await start_site({"workflows.config_dir": str(public), "workflows.users": ["Mira"]}, **options)


async def chat(site: Site, said: str = "How do I make soup?", *, key: str = "", **more: Any) -> tuple[int, str]:
    """Send a chat to the server's API; the status of the answer, and the id of its run."""
    body = {"model": "Mira", "messages": [{"role": "user", "content": said}], **more}
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{site.url}/v1/chat/completions", json=body, headers=headers) as answer,
    ):
        await answer.read()
        return answer.status, answer.headers.get("x-workflow-run-id", "")
