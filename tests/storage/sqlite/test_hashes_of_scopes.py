"""Digests of texts are stored as the scope hashes them, so that a scope may have a key some day."""

from hashlib import blake2b

from mnemoir.core.scope import Scope
from mnemoir.core.text import content_hash
from tests.contracts.words import ALL, ASKED, fact, rewrite, texts


class KeyedScope(Scope):
    """A scope with a key of its own."""

    def hash(self, digest: bytes) -> bytes:
        return blake2b(digest, digest_size=16, key=self.user.encode()).digest()


MIRA = KeyedScope(project="demo", user="mira")


async def test_a_scope_without_a_key_stores_the_digest_itself():
    assert Scope(project="demo", user="mira").hash(content_hash("Likes tea")) == content_hash("likes tea.")


async def test_texts_are_known_again_and_no_bare_digest_is_stored(store, database):
    await store.commit(MIRA, [fact("Likes tea", scope=MIRA)], ASKED)
    assert await store.commit(MIRA, [fact("likes tea.", scope=MIRA)], ASKED) == []
    (told,) = (await store.same_text(MIRA, [content_hash("LIKES TEA")])).values()
    await store.commit(MIRA, [rewrite(told, "Likes coffee")], ASKED)
    assert await texts(store, MIRA, ALL) == ["Likes coffee"]
    assert list(await store.same_text(MIRA, [content_hash("likes coffee")])) == [content_hash("likes coffee")]
    stored = await database.read(None, lambda sql: sql.rows("SELECT content_hash FROM memories"))
    bare = {content_hash("Likes tea"), content_hash("Likes coffee")}
    assert stored
    assert not bare & {hashed for (hashed,) in stored}
