"""What a store holds of a session can be taken away whole, and nothing of another session goes with it."""

from dataclasses import replace

import pytest

from mnemoir.core.memories import Applied, Memory, Provenance, SourceTurn
from mnemoir.ports.memory_store import Receipt
from tests.contracts.words import MIRA, SAID, fact, message, remove, rewrite, texts, within
from tests.postgres_server import servers

SECRET = "zanzibar-yellow-tandem"


def said_in(session: str | None, text: str = SECRET) -> Provenance:
    turn = SourceTurn(role="user", text=f"I said {text}.", speaker="Mira", said_at=SAID.said_at)
    return Provenance(reason="extracted", model="offline", turns=(turn,), session=session)


async def learn(store, text: str, session: str | None, scope=MIRA):
    metadata = {"session_id": session} if session else None
    (applied,) = await store.commit(scope, [fact(text, scope=scope, metadata=metadata)], said_in(session, text))
    return applied.memory


def files_with(folder, words: str) -> list[str]:
    """The files of the store, or its tables, that have the words."""
    files = [str(file) for file in folder.rglob("*") if file.is_file() and words.encode() in file.read_bytes()]
    return files + servers.tables_with(folder, words)


async def test_what_was_said_in_a_session_alone_goes_with_it_and_all_else_stays(store, backend, tmp_path):
    await learn(store, f"Owns a {SECRET}", "s1")
    await learn(store, "Likes tea", "s2")
    await learn(store, "Likes rowing", None)
    assert backend.encrypts or files_with(tmp_path, SECRET)
    assert await store.forget_session(MIRA, "s1") == 1
    assert sorted(await texts(store)) == ["Likes rowing", "Likes tea"]
    assert files_with(tmp_path, SECRET) == []
    assert backend.encrypts or files_with(tmp_path, "I said Likes tea")


async def test_a_fact_that_another_session_changed_stays_and_loses_its_past(store, tmp_path):
    owned = await learn(store, f"Owns a {SECRET}", "s1")
    await store.commit(MIRA, [rewrite(owned, "Owns a red tandem")], said_in("s2", "red tandem"))
    assert await store.forget_session(MIRA, "s1") == 0
    assert await texts(store) == ["Owns a red tandem"]
    assert files_with(tmp_path, SECRET) == []
    (event,) = await store.history(MIRA, owned.id)
    assert (event.event, event.new_text, event.old_text) == ("UPDATE", "Owns a red tandem", None)


async def test_a_fact_that_a_session_changed_last_goes_with_that_session(store, tmp_path):
    owned = await learn(store, "Owns a red tandem", "s2")
    await store.commit(MIRA, [rewrite(owned, f"Owns a {SECRET}")], said_in("s1"))
    assert await store.forget_session(MIRA, "s1") == 1
    assert await texts(store) == []
    assert files_with(tmp_path, SECRET) == []


async def test_a_fact_that_was_only_said_again_in_a_session_stays(store):
    tea = await learn(store, "Likes tea", "s2")
    await store.commit(MIRA, [rewrite(tea, "Likes tea")], said_in("s1", "tea"))
    assert await store.forget_session(MIRA, "s1") == 0
    assert await texts(store) == ["Likes tea"]
    assert [event.event for event in await store.history(MIRA, tea.id)] == ["ADD"]


async def merge(store, kept, other, text: str) -> Memory:
    """As a person joins two: `kept` says `text` then."""
    joined = replace(rewrite(kept, text), reason="merged")
    applied: list[Applied] = await store.commit(
        MIRA, [remove(other, replaced_by=1), joined], Provenance(reason="request")
    )
    return applied[-1].memory


async def test_a_memory_that_was_given_the_text_of_a_session_s_goes_with_that_session(store, tmp_path):
    bicycle, owned = await learn(store, "Owns a bicycle", "s2"), await learn(store, f"Owns a {SECRET}", "s1")
    await merge(store, bicycle, owned, owned.text)
    assert await store.forget_session(MIRA, "s1") == 1
    assert (await texts(store), files_with(tmp_path, SECRET)) == ([], [])


async def test_a_memory_that_has_another_text_since_stays_without_what_the_session_had_given_it(store, tmp_path):
    bicycle, owned = await learn(store, "Owns a bicycle", "s2"), await learn(store, f"Owns a {SECRET}", "s1")
    merged = await merge(store, bicycle, owned, owned.text)
    await store.commit(MIRA, [rewrite(merged, "Sold a bicycle")], Provenance(reason="edit"))
    assert await store.forget_session(MIRA, "s1") == 0
    assert (await texts(store), files_with(tmp_path, SECRET)) == (["Sold a bicycle"], [])


async def test_a_memory_joined_with_one_of_a_session_stays_with_words_of_its_own(store, tmp_path):
    bicycle, owned = await learn(store, "Owns a bicycle", "s2"), await learn(store, f"Owns a {SECRET}", "s1")
    await merge(store, bicycle, owned, bicycle.text)
    assert await store.forget_session(MIRA, "s1") == 0
    assert (await texts(store), files_with(tmp_path, SECRET)) == (["Owns a bicycle"], [])


async def test_what_was_joined_into_a_memory_of_a_session_can_be_taken_back_after_it(store, tmp_path):
    bicycle, owned = await learn(store, "Owns a bicycle", "s2"), await learn(store, f"Owns a {SECRET}", "s1")
    await merge(store, owned, bicycle, owned.text)
    assert await store.forget_session(MIRA, "s1") == 1
    assert (await texts(store), files_with(tmp_path, SECRET)) == ([], [])
    assert await store.memory_at_removal(MIRA, bicycle.id) == bicycle


async def test_messages_kept_word_for_word_go_by_what_their_metadata_say(store, tmp_path):
    said = [message(f"{SECRET} {n}", metadata={"session_id": "s1", "n": n}) for n in range(3)]
    await store.commit(MIRA, [*said, message("hello", metadata={"session_id": "s2"})], Provenance(reason="verbatim"))
    assert await store.forget_session(MIRA, "s1") == 3
    assert await texts(store) == ["hello"]
    assert files_with(tmp_path, SECRET) == []


async def test_no_receipt_quotes_what_was_forgotten(store, tmp_path):
    add = fact(f"Owns a {SECRET}", metadata={"session_id": "s1"})
    await store.commit(MIRA, [add], said_in("s1"), receipt=Receipt(key="k1", request_hash="h"))
    await store.commit(MIRA, [fact("Likes tea")], said_in("s2", "tea"), receipt=Receipt(key="k2", request_hash="h"))
    await store.forget_session(MIRA, "s1")
    assert files_with(tmp_path, SECRET) == []
    assert await store.redeem(MIRA, "k1") is None
    assert await store.redeem(MIRA, "k2") is not None


async def test_the_same_session_of_another_user_is_left_alone(store):
    noah = replace(MIRA, user="noah")
    await learn(store, "Likes tea", "s1")
    await learn(store, "Likes coffee", "s1", noah)
    assert await store.forget_session(within(MIRA, conversation="s1"), "s1") == 1
    assert await texts(store, noah) == ["Likes coffee"]


@pytest.mark.parametrize("session", ["s9", "", "s' OR 1=1 --", "\N{BLACK HEART SUIT}"])
async def test_a_session_of_which_nothing_is_known_takes_nothing_away(store, session):
    await learn(store, "Likes tea", "s1")
    assert await store.forget_session(MIRA, session) == 0
    assert await store.forget_session(replace(MIRA, user="nobody"), "s1") == 0
    assert await texts(store) == ["Likes tea"]


async def test_forgetting_survives_a_restart_and_can_be_asked_for_again(store_factory):
    store = await store_factory()
    await learn(store, f"Owns a {SECRET}", "s1")
    await store.forget_session(MIRA, "s1")
    store = await store_factory()
    assert await store.forget_session(MIRA, "s1") == 0
    assert await texts(store) == []
