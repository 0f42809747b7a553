"""The ways to what opens on a page: each dialog, menu and popover once, by the buttons that lead there."""

import re
from dataclasses import dataclass

from playwright.async_api import Locator, Page, expect

Step = tuple[str, str]  # the role and the name of what is clicked; of several the first


@dataclass(frozen=True, kw_only=True)
class Way:
    """An address, and what is clicked there until a part of the page is open that has `role`."""

    target: str
    steps: tuple[Step, ...]
    role: str = "dialog"

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"{self.target} {' › '.join(name for _, name in self.steps)}"

    async def go(self, page: Page) -> Locator:
        """Click through, and wait for what opens to have all it shows."""
        for role, name in self.steps:
            await page.get_by_role(role, name=re.compile(f"^{re.escape(name)}")).first.click()  # type: ignore[arg-type]
        opened = page.get_by_role(self.role).last  # type: ignore[arg-type]
        await expect(opened).to_be_visible()
        await expect(opened.locator(".mantine-Loader-root")).to_have_count(0)
        return opened


def _button(target: str, *names: str, role: str = "dialog") -> Way:
    return Way(target=target, steps=tuple(("button", name) for name in names), role=role)


def _item(target: str, menu: str, item: str, *more: str) -> Way:
    steps = (("button", menu), ("menuitem", item), *(("button", name) for name in more))
    return Way(target=target, steps=steps)


_SELECTED: tuple[Step, ...] = (("checkbox", "Select all loaded"),)
_MEMORY = "/memories?id={memory}"
_CHAT = "/?conversation=dinner"
_TALK = "/conversations?id=dinner"

# of anybody on a server without people
WAYS: tuple[Way, ...] = (
    _button("/", "Search"),
    _button("/", "Project", role="menu"),
    _item("/", "Project", "Settings"),
    _button("/", "More about conversations", role="menu"),
    _item("/", "More about conversations", "Import chats"),
    _button(_CHAT, "More about What", role="menu"),
    _item(_CHAT, "More about What", "Delete"),
    _button(_CHAT, "Model or workflow", role="listbox"),
    _button("/memories", "Add a memory"),
    _button("/memories", "Filters"),
    _button("/memories", "Review"),
    _button("/memories", "Duplicates"),
    _button("/memories", "More", role="menu"),
    _item("/memories", "More", "The week’s review…"),
    _item("/memories", "More", "What would be recalled for …"),
    _item("/memories", "More", "Changes…"),
    _item("/memories", "More", "Import…"),
    _item("/memories", "More", "Memory settings…"),
    _item("/memories", "More", "Delete all memories…"),
    _button("/memories?origin=user", "Remove all of this source…"),
    *(
        Way(target="/memories", steps=(*_SELECTED, ("button", name)))
        for name in ("Tag…", "Move…", "Expire…", "Merge…")
    ),
    _button("/conversations", "Import…"),
    _button("/conversations?q=Sunday", "Filters"),
    _button(_TALK, "More about this conversation", role="menu"),
    _item(_TALK, "More about this conversation", "Edit details…"),
    _item(_TALK, "More about this conversation", "Clear context…"),
    _item(_TALK, "More about this conversation", "Delete…"),
    _button("/runs", "Filters"),
    _button("/runs?id={run}", "Request as curl"),
)
# of an admin and operator among people, one of whom is Ben
WAYS_OF_ADMINS: tuple[Way, ...] = (
    _button("/", "Account of", role="menu"),
    _button("/keys", "Invite"),
    _button("/keys", "Actions of Ben", role="menu"),
    *(
        _item("/keys", "Actions of Ben", item)
        for item in ("Change…", "Reset sign-in…", "Give memories…", "Hold…", "Erase data…", "Disable…", "Remove…")
    ),
    _button("/keys?part=keys", "New key"),
    _button("/keys?part=tenants", "Add a tenant"),
    _button("/keys?part=tenants", "Retention"),
    _button("/account", "Make new recovery codes…"),
)
