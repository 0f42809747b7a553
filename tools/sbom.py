"""The bill of materials of a release, as CycloneDX: what is inside the wheel, and what is installed with it.

Inside are the npm packages of the built pages and the embedding model; installed with it are the Python packages of
`requirements/serving.lock`. The same sources give the same bytes.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "serving.lock"
BUNDLED = ROOT / "src" / "mnemoir" / "server" / "static" / "licenses.md"
MODEL = ROOT / "src" / "mnemoir" / "providers" / "embedding" / "minilm" / "model.onnx"
_BUILDERS = {"editables", "hatchling", "pathspec", "pluggy", "trove-classifiers"}  # installed with a checkout only

Component = dict[str, Any]


def bill_of_materials(version: str, made_at: datetime) -> str:
    """The document as JSON, for a release of Mnemoir that was made at `made_at`."""
    itself = _component("application", f"pkg:pypi/mnemoir@{version}", "mnemoir", version, "Apache-2.0")
    parts = [*_bundled(BUNDLED.read_text("utf-8")), _model(), *_installed(LOCK.read_text("utf-8"))]
    refs = [part["bom-ref"] for part in parts]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, " ".join([itself["bom-ref"], *refs])).urn,
        "version": 1,
        "metadata": {"timestamp": made_at.astimezone(UTC).isoformat(), "component": itself},
        "components": parts,
        "dependencies": [{"ref": itself["bom-ref"], "dependsOn": refs}],
    }
    return json.dumps(document, indent=1) + "\n"


def _component(kind: str, ref: str, name: str, version: str | None = None, terms: str | None = None) -> Component:
    component: Component = {"type": kind, "bom-ref": ref, "name": name}
    if version:
        component |= {"version": version, "purl": ref}
    if terms:
        licence = {"expression": terms} if " " in terms else {"license": {"id": terms}}
        component |= {"licenses": [licence]}
    return component


def _bundled(licenses: str) -> Iterator[Component]:
    for name, version, terms in re.findall(r"^## (\S+) - (\S+) \((.+)\)$", licenses, re.MULTILINE):
        yield _component("library", f"pkg:npm/{quote(name)}@{version}", name, version, terms)


def _installed(lock: str) -> Iterator[Component]:
    for name, version, marker in re.findall(r"^([\w.-]+)==([^\s;\\]+)( ;)?", lock, re.MULTILINE):
        if name not in _BUILDERS:
            scope = "optional" if marker else "required"  # optional: on some platforms only
            yield _component("library", f"pkg:pypi/{name}@{version}", name, version) | {"scope": scope}


def _model() -> Component:
    digest = hashlib.sha256(MODEL.read_bytes()).hexdigest()
    known = {"hashes": [{"alg": "SHA-256", "content": digest}]}
    return _component("machine-learning-model", f"model:{digest}", "all-MiniLM-L6-v2", terms="Apache-2.0") | known
