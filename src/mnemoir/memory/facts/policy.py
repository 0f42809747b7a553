"""What the model is told: our own words, kept in files of their own, and the shapes its answers must have.

The constant text comes first in every request, so that a provider's prompt cache holds it. A project may replace the
list of what to keep; the rules around it, which guard against what turns may say, always stay.
"""

from functools import cache
from importlib.resources import files
from typing import Any

from mnemoir.core.messages import JsonSchema


def default_extraction_prompt() -> str:
    """What to keep, as long as a project has not set its own."""
    return _prompt("extract.md")


def extraction_policy(project_prompt: str | None) -> str:
    """The instructions of extraction, with the project's list of what to keep or the default one."""
    kept = project_prompt if project_prompt and project_prompt.strip() else default_extraction_prompt()
    return f"{_prompt('extract_frame.md')}\n{kept.strip()}"


def reconciliation_policy() -> str:
    """The instructions of reconciliation."""
    return _prompt("reconcile.md")


@cache
def _prompt(name: str) -> str:
    return (files(__package__) / "prompts" / name).read_text(encoding="utf-8").strip()


def _object(**properties: Any) -> dict[str, Any]:  # a JSON Schema is open by nature
    """An object in the strict dialect: nothing optional, nothing more."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


FACTS = JsonSchema(
    name="memory_facts", schema=_object(facts={"type": "array", "items": {"type": "string"}}), strict=True
)
CHANGES = JsonSchema(
    name="memory_changes",
    schema=_object(
        memory={
            "type": "array",
            "items": _object(
                id={"type": "string"},
                text={"type": "string"},
                event={"type": "string", "enum": ["ADD", "UPDATE", "DELETE", "NONE"]},
                old_memory={"type": ["string", "null"]},
            ),
        }
    ),
    strict=True,
)
