"""Vectors of the built-in model for clients are those of its first release.

Clients keep them: they may not change with what memories are embedded with. Processors round differently, so the
files of the model are compared byte by byte, and the vectors nearly.
"""

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np

from tests.server.conftest import OpenServer

MODEL = "all-MiniLM-L6-v2-int8"
FOLDER = Path(str(files("mnemoir.providers.embedding"))) / "minilm"
RECORDED = np.load(Path(__file__).with_name("recorded_vectors.npz"))
DIGESTS = {
    "model.onnx": "c7a50a2098ef34917c6eea42269473a6d4b58b23e35b67b1a789435d923054aa",
    "tokenizer.json": "5fd1c882abbd30517dced455a2c9768945ec726b96727927e4959348d9de550b",
    "words.int8": "7dce394ff2261de8e2f31e10715227150a3d46e2a3e260a14429c6b1fbadf083",
}


async def test_ten_vectors_are_as_they_were_recorded(open_server: OpenServer):
    server = await open_server()
    openai, ollama = [], []
    for text in RECORDED["texts"].tolist():
        body = {"model": MODEL, "input": text}
        answer = await server.post("/v1/embeddings", body | {"encoding_format": "base64"})
        assert answer["model"] == MODEL
        openai.append(np.frombuffer(base64.b64decode(answer["data"][0]["embedding"]), "<f4"))
        ollama.append((await server.post("/api/embed", body))["embeddings"][0])
    cosines = (np.array(openai) * RECORDED["vectors"]).sum(axis=1)
    np.testing.assert_array_less(0.99, cosines)
    np.testing.assert_allclose(ollama, openai, atol=1e-6)


def test_the_files_of_the_model_are_those_that_were_recorded_with():
    assert {name: hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() for name in DIGESTS} == DIGESTS
