"""What a project does with personal data, and the refusal of it."""

from collections.abc import Collection
from contextvars import ContextVar
from dataclasses import dataclass

from mnemoir.core.errors import InvalidRequest
from mnemoir.ports.project_settings import PiiAction


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is done with personal data in facts, in messages, and in what models are sent."""

    facts: PiiAction = "off"
    messages: PiiAction = "off"
    models: PiiAction = "off"


NO_POLICY = Policy()

# the policy of the project that the current request is about, inherited by its tasks; None before it is known
in_force: ContextVar[Policy | None] = ContextVar("in_force", default=None)


class PersonalDataRefused(InvalidRequest):
    """The request holds personal data, and the project's policy blocks it. The message names kinds, no values."""

    code = "personal_data"

    def __init__(self, kinds: Collection[str], where: str) -> None:
        named = ", ".join(sorted(kinds))
        super().__init__(
            f"This holds personal data ({named}), which this project does not allow in {where}. "
            "Leave it out, or have an admin change the project's policy."
        )
        self.kinds = sorted(kinds)
