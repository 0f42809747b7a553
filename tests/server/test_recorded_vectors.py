"""Vectors of the built-in model for clients are those of its first release, to the bit.

Clients keep them: they may not change with what memories are embedded with. Recorded with onnxruntime 1.32 on a
processor without VNNI, whose instructions round differently; elsewhere they agree nearly.
"""

import base64
from pathlib import Path

import numpy as np
import onnxruntime

from tests.server.conftest import OpenServer

MODEL = "all-MiniLM-L6-v2-int8"
RECORDED = np.load(Path(__file__).with_name("recorded_vectors.npz"))
CPU = Path("/proc/cpuinfo")
IS_SAME_ARITHMETIC = onnxruntime.__version__.startswith("1.32.") and CPU.exists() and "vnni" not in CPU.read_text()


async def test_ten_vectors_are_as_they_were_recorded(open_server: OpenServer):
    server = await open_server()
    openai, ollama = [], []
    for text in RECORDED["texts"].tolist():
        body = {"model": MODEL, "input": text}
        answer = await server.post("/v1/embeddings", body | {"encoding_format": "base64"})
        assert answer["model"] == MODEL
        openai.append(np.frombuffer(base64.b64decode(answer["data"][0]["embedding"]), "<f4"))
        ollama.append((await server.post("/api/embed", body))["embeddings"][0])
    if IS_SAME_ARITHMETIC:
        assert np.array_equal(openai, RECORDED["vectors"])
    np.testing.assert_allclose(openai, RECORDED["vectors"], atol=0.02)
    np.testing.assert_allclose(ollama, openai, atol=1e-6)
