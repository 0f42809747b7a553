"""The built-in embedding model, with the real weights."""

import asyncio
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import structlog

from mnemoir.core.errors import ProviderInvalidOutput, ProviderUnavailable
from mnemoir.ports.embedding import Embedding, FloatArray, Passage
from mnemoir.providers.embedding import minilm_model
from mnemoir.providers.embedding.minilm_encoder import Encoder, Tokens
from mnemoir.providers.embedding.minilm_model import MiniLM

HERE = Path(__file__).parent
FOLDER = Path(minilm_model.__file__).parent / "minilm"
SENTENCES = (HERE / "sentences.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture
async def model() -> AsyncIterator[MiniLM]:
    model = MiniLM()
    yield model
    await model.aclose()


def passages(texts: Sequence[str]) -> list[Passage]:
    return [Passage(text=text) for text in texts]


def stacked(embeddings: Sequence[Embedding]) -> FloatArray:
    return np.stack([embedding.vector for embedding in embeddings])


def model_threads() -> set[threading.Thread]:
    names = ("mnemoir-minilm", "mnemoir-lane")
    return {thread for thread in threading.enumerate() if thread.name.startswith(names)}


async def test_sentence_vectors_agree_with_the_published_model(model: MiniLM) -> None:
    published = np.load(HERE / "reference_vectors.npz")["vectors"].astype(np.float32)
    vectors = stacked(await model.embed(passages(SENTENCES)))
    cosines = (vectors * published).sum(axis=1)
    assert len(cosines) == 200
    assert cosines.min() >= 0.98
    assert cosines.mean() >= 0.995


@pytest.mark.slow
async def test_a_sentence_has_the_same_vector_alone_and_among_a_hundred_at_once(model: MiniLM) -> None:
    texts = SENTENCES[:100]
    alone = [(await model.embed([Passage(text=text)]))[0] for text in texts]
    at_once = await asyncio.gather(*(model.embed([Passage(text=text)]) for text in texts))
    in_one_request = await model.embed(passages(texts))
    np.testing.assert_allclose(stacked([one for (one,) in at_once]), stacked(alone), atol=1e-5)
    np.testing.assert_allclose(stacked(in_one_request), stacked(alone), atol=1e-5)


async def test_every_vector_has_unit_length_and_one_row_per_token(model: MiniLM) -> None:
    for embedding in await model.embed(passages(SENTENCES[::20])):
        assert embedding.token_ids is not None
        assert embedding.token_vectors is not None
        assert embedding.token_ids.dtype == np.uint16
        assert embedding.token_vectors.shape == (len(embedding.token_ids), model.dimension)
        rows = np.vstack([embedding.vector, embedding.token_vectors])
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


async def test_context_changes_the_vectors_of_a_text_and_not_its_tokens(model: MiniLM) -> None:
    text, context = "yes, every morning", "Do you still go swimming in the lake?"
    alone, answer = await model.embed([Passage(text=text), Passage(text=text, context=context)])
    question = (await model.embed([Passage(text=context)]))[0].vector
    np.testing.assert_array_equal(answer.token_ids, alone.token_ids)
    assert answer.vector @ question > alone.vector @ question + 0.1


async def test_a_context_over_the_window_keeps_its_end(model: MiniLM) -> None:
    text, near = "yes, every morning", "Do you still go swimming in the lake?"
    long, longer = await model.embed(
        [Passage(text=text, context=f"{'far ' * count}{near}") for count in (1_000, 5_000)]
    )
    np.testing.assert_allclose(long.vector, longer.vector, atol=1e-5)
    assert long.token_ids is not None
    assert len(long.token_ids) == 4


async def test_a_text_of_ten_thousand_words_is_cut_to_the_window(model: MiniLM) -> None:
    words = "lighthouse " * 10_000
    long, begun = await model.embed([Passage(text=words, context="a context"), Passage(text=words[:5_000])])
    assert long.token_ids is not None
    assert len(long.token_ids) == 254
    np.testing.assert_allclose(long.vector, begun.vector, atol=1e-5)


@pytest.mark.parametrize("text", ["", "  \n\t", "\u200b"])
async def test_a_text_without_tokens_gets_a_zero_vector(model: MiniLM, text: str) -> None:
    (embedding,) = await model.embed([Passage(text=text, context="something before")])
    assert embedding.token_ids is not None
    assert embedding.token_vectors is not None
    assert not embedding.vector.any()
    assert embedding.token_ids.shape == (0,)
    assert embedding.token_vectors.shape == (0, 384)


@pytest.mark.parametrize("text", ["half a pair \ud83d", "\x00 nothing", "🙂" * 400, "日本語", "a" * 5_000])
async def test_odd_texts_get_finite_vectors(model: MiniLM, text: str) -> None:
    (embedding,) = await model.embed([Passage(text=text)])
    assert np.isfinite(embedding.vector).all()
    assert np.linalg.norm(embedding.vector) == pytest.approx(1, abs=1e-5)


async def test_name_and_length_are_known_before_anything_is_loaded() -> None:
    before = model_threads()
    model = MiniLM()
    assert (model.name, model.dimension) == ("all-MiniLM-L6-v2-int8", 384)
    assert await model.embed([]) == []
    assert model_threads() <= before


def test_importing_and_making_the_model_loads_no_runtime() -> None:
    code = (
        "import sys; from mnemoir.providers.embedding.minilm_model import MiniLM; MiniLM();"
        "sys.exit('onnxruntime' in sys.modules or 'tokenizers' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": str(FOLDER.parents[3])}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_the_library_that_runs_it_gives_the_machine_no_id_and_reports_to_nobody(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from mnemoir.providers.embedding.minilm_encoder import Encoder
Encoder(Path({str(FOLDER)!r}))
"""
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}  # without `CI`, where the library is silent by itself
    subprocess.run([sys.executable, "-c", code], env=home, cwd=tmp_path, check=True)
    assert list(tmp_path.iterdir()) == []


async def test_the_event_loop_runs_while_the_model_loads(tmp_path: Path) -> None:
    folder = tmp_path / "not loaded before"
    folder.symlink_to(FOLDER)
    model = MiniLM(folder=folder)
    warming = asyncio.create_task(model.warm())
    turns = 0
    while not warming.done():
        await asyncio.sleep(0.001)
        turns += 1
    await model.aclose()
    assert turns > 5


async def test_the_loaded_model_is_shared_and_outlives_its_first_user() -> None:
    first, second = MiniLM(), MiniLM()
    passage = Passage(text="The dog was called Bella.")
    (alone,) = await first.embed([passage])
    both = await asyncio.gather(*(one.embed(passages(SENTENCES[:40])) for one in (first, second)))
    await first.aclose()
    (afterwards,) = await second.embed([passage])
    await second.aclose()
    assert np.array_equal(stacked(both[0]), stacked(both[1]))
    assert np.array_equal(alone.vector, afterwards.vector)


@pytest.mark.slow
async def test_a_query_overtakes_an_import(model: MiniLM) -> None:
    importing = asyncio.create_task(model.embed(passages(SENTENCES)))
    await asyncio.sleep(0)
    await model.embed([Passage(text="What was the dog called?")])
    assert not importing.done()
    assert len(await importing) == 200


async def test_an_import_progresses_under_an_endless_flow_of_queries(model: MiniLM) -> None:
    importing = asyncio.create_task(model.embed(passages(SENTENCES[:20])))
    asked = 0

    async def keep_asking() -> None:
        nonlocal asked
        while not importing.done():
            await model.embed([Passage(text="What was the dog called?")])
            asked += 1

    await asyncio.gather(*(keep_asking() for _ in range(40)))
    assert 20 <= asked < 400


@pytest.mark.slow
async def test_a_cancelled_import_stops_after_its_slice(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = record_slices(monkeypatch)
    importing = asyncio.create_task(model.embed(passages(SENTENCES)))
    await asyncio.sleep(0)
    importing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await importing
    await model.embed([Passage(text="next")])
    assert sum(sizes) < 40


@pytest.mark.slow
async def test_an_import_is_embedded_in_slices(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = record_slices(monkeypatch)
    await model.embed(passages(SENTENCES))
    assert sum(sizes) == 200
    assert 2 < max(sizes) <= 16


async def test_closing_ends_the_threads_and_fails_waiting_calls() -> None:
    before = model_threads()
    model = MiniLM()
    waiting = [asyncio.create_task(model.embed(passages(SENTENCES))) for _ in range(3)]
    await asyncio.sleep(0)
    assert model_threads() - before
    await model.aclose()
    await model.aclose()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [ProviderUnavailable] * 3
    assert model_threads() <= before
    with pytest.raises(ProviderUnavailable, match="closed"):
        await model.embed([Passage(text="too late")])


async def test_a_missing_model_is_reported_to_every_caller(tmp_path: Path) -> None:
    model = MiniLM(folder=tmp_path)
    calls = [model.embed([Passage(text="hello")]) for _ in range(3)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    await model.aclose()
    assert [type(result) for result in results] == [ProviderUnavailable] * 3


async def test_a_fault_in_the_model_is_logged_with_its_place(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(encoder: Encoder, batch: Sequence[Tokens]) -> list[Embedding]:
        raise KeyError("quince marmalade")

    monkeypatch.setattr(Encoder, "embed", breaks)
    with structlog.testing.capture_logs() as lines, pytest.raises(ProviderUnavailable, match="built-in"):
        await model.embed([Passage(text="quince marmalade")])
    (line,) = lines
    assert (line["event"], line["error"]) == ("embedding model failed", "KeyError")
    assert line["where"][-1].endswith("breaks")
    assert "quince" not in str(line)


async def test_a_non_finite_value_is_never_returned(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = np.full((1, 3, 384), np.nan, np.float32)
    with monkeypatch.context() as patched:
        patched.setattr(Encoder, "_run", lambda *_: (broken[:, 0], broken))
        with pytest.raises(ProviderInvalidOutput, match="not finite"):
            await model.embed([Passage(text="hello")])
    assert len(await model.embed([Passage(text="hello")])) == 1


def test_the_shipped_files_are_the_built_ones() -> None:
    listed = [line.split("  ") for line in (FOLDER / "SHA256SUMS").read_text().splitlines()]
    found = [[hashlib.sha256((FOLDER / name).read_bytes()).hexdigest(), name] for _, name in listed]
    assert found == listed


def record_slices(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many passages each slice had, in the order of work."""
    sizes: list[int] = []
    embed = Encoder.embed

    def recorded(self: Encoder, batch: Sequence[Tokens]) -> list[Embedding]:
        sizes.append(len(batch))
        return embed(self, batch)

    monkeypatch.setattr(Encoder, "embed", recorded)
    return sizes
