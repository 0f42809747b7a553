"""Whatever is done to a ledger, and whoever else writes it: it is the list that it should be."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemoir.core.discussions import BlockChanges
from mnemoir.storage.discussions.chunk_ledger import FileChunkLedger
from tests.storage.discussions.ledger_kit import array, called, foreign, keys, lines, live, source

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["append", "before", "stale", "revive", "place", "reopen", "foreign"]), st.integers(0, 50)
    ),
    max_size=25,
)


@settings(max_examples=25, deadline=None)
@given(operations=OPERATIONS, start=st.sampled_from(["none", "lines", "array"]))
async def test_a_ledger_behaves_like_a_list(tmp_path_factory, operations, start):
    root = tmp_path_factory.mktemp("discussions")
    d1, ledger = called(root), FileChunkLedger()
    rows = () if start == "none" else ("same", "same", "other")
    model: list[list[Any]] = [[text, False] for text in rows]  # text and whether stale
    file = root / ("d1_memories.json" if start == "array" else "d1_memories.jsonl")
    if start != "none":
        file.write_text((array if start == "array" else lines)(*(foreign(text) for text, _ in model)))
    for number, (operation, choice) in enumerate(operations):
        blocks = keys(await ledger.blocks(d1))
        at = choice % len(model) if model else None
        if operation == "append" or (operation == "before" and at is None):
            await ledger.append(d1, f"t{number}", source(f"t{number}"))
            model.append([f"t{number}", False])
        elif operation == "before" and at is not None:
            await ledger.append(d1, f"t{number}", source(f"t{number}"), before=blocks[at])
            model.insert(at, [f"t{number}", False])
        elif operation in ("stale", "revive") and at is not None:
            change: dict[str, Any] = {operation.replace("revive", "revived"): frozenset({blocks[at]})}
            await ledger.change(d1, replace(BlockChanges(), **change))
            model[at][1] = operation == "stale"
        elif operation == "place" and at is not None:
            await ledger.change(d1, BlockChanges(placed={blocks[at]: ("p" * 16,)}))
        elif operation == "reopen":
            ledger = FileChunkLedger()
        elif operation == "foreign" and start == "array":
            values = json.loads(file.read_bytes())
            known = [{name: value[name] for name in ("text_block", "hash")} for value in values]
            file.write_text(array(*known, foreign(f"f{number}")))
            model = [row for row in model if not row[1]] + [[f"f{number}", False]] + [row for row in model if row[1]]
            assert sorted(await live(ledger, d1)) == sorted(text for text, stale in model if not stale)
            model = [[chunk.text, chunk.stale_since is not None] for chunk in await ledger.all(d1)]
        found = await ledger.all(d1)
        assert [[chunk.text, chunk.stale_since is not None] for chunk in found] == model
        assert len({chunk.id for chunk in found}) == len(found)
        newest = [chunk.text for chunk in await ledger.newest(d1, 2)]
        assert newest == [text for text, stale in model if not stale][-2:]
