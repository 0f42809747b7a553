"""What a project sets for itself."""

import asyncio
from dataclasses import replace

from mnemoir.ports.memory_store import Project
from mnemoir.ports.project_settings import ProjectSettings

DEMO = Project(tenant="default", project="demo")


async def test_a_project_that_set_nothing_has_nothing_set(settings_factory):
    assert await (await settings_factory()).load(DEMO) == ProjectSettings()


async def test_what_was_saved_is_there_after_a_restart_and_for_that_project_only(settings_factory):
    store = await settings_factory()
    saved = ProjectSettings(
        memory_enabled=False,
        decay_days=6.5,
        search_limit=0,
        extraction_prompt="Only food.\n\U0001f375",
        review="changes",
    )
    await store.change(DEMO, lambda _: saved)
    store = await settings_factory()
    assert await store.load(DEMO) == saved
    assert await store.load(Project(tenant="default", project="other")) == ProjectSettings()
    assert await store.load(Project(tenant="acme", project="demo")) == ProjectSettings()


async def test_a_save_replaces_all_that_was_set(settings_factory):
    store = await settings_factory()
    await store.change(DEMO, lambda _: ProjectSettings(memory_enabled=True, decay_days=0.0))
    await store.change(DEMO, lambda _: ProjectSettings(search_limit=7))
    assert await store.load(DEMO) == ProjectSettings(search_limit=7)


async def test_a_save_counts_for_all_that_is_loaded_after_it(settings_factory):
    store = await settings_factory()
    for limit in (1, 2, 3):
        own = ProjectSettings(search_limit=limit)
        _, before, _ = await asyncio.gather(
            store.load(DEMO), store.load(DEMO), store.change(DEMO, lambda _, own=own: own)
        )
        assert before.search_limit in (limit, limit - 1 or None)
        assert (await store.load(DEMO)).search_limit == limit


async def test_changes_at_once_are_all_there(settings_factory):
    store = await settings_factory()
    names = ("memories_days", "history_days", "deleted_days")
    await asyncio.gather(
        *(store.change(DEMO, lambda own, name=name: replace(own, **{name: 3})) for name in names),
    )
    assert await store.load(DEMO) == ProjectSettings(memories_days=3, history_days=3, deleted_days=3)
