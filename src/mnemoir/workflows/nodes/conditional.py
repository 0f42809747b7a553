"""Conditional: evaluates a condition, as workflow files write it, to TRUE or FALSE.

    condition  = all { OR all }
    all        = one { AND one }
    one        = ( condition ) | operand [ sign operand ]
    operand    = number | 'text' | "text" | word
    sign       = == | != | >= | <= | > | <

AND, OR, TRUE and FALSE may be written in any case. Characters that belong to no token are skipped. Reading stops at
the first token that does not fit, so a long text that is no condition costs little.
"""

import operator
import re
from collections.abc import Callable, Mapping

from pydantic import Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step

_MOST_CHARACTERS = 512 * 1024
_MOST_TOKENS = 10_000  # so that no condition delays other requests
_DEEPEST = 50  # brackets within brackets
_TOKEN = re.compile(
    r"""(?P<number>-?[0-9]++(?:\.[0-9]++)?+(?!\w))
      | (?P<text>'[^']*'|"[^"]*")
      | (?P<sign>[=!<>]=|[<>])
      | (?P<bracket>[()])
      | (?P<word>\w+)""",
    re.VERBOSE,
)
_EQUALITY: Mapping[str, Callable[[object, object], bool]] = {"==": operator.eq, "!=": operator.ne}
_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

Operand = bool | float | str


class NotACondition(ValueError):
    """The text does not follow the grammar; the message says where."""


def holds(condition: str) -> bool:
    """True when the condition holds. Raises NotACondition for a text that does not follow the grammar.

    `==` and `!=` compare values with their types: the text "5" is not the number 5. The other signs compare numbers,
    and are false for anything else. An operand alone is true unless it is FALSE, 0 or an empty text.
    """
    if len(condition) > _MOST_CHARACTERS:
        raise NotACondition(f"A condition may have {_MOST_CHARACTERS} characters; this one has {len(condition)}.")
    return _Reader(condition).whole()


class _Reader:
    """A recursive descent parser with one token of lookahead, which evaluates as it reads."""

    def __init__(self, condition: str) -> None:
        self._tokens = _TOKEN.finditer(condition)
        self._next = next(self._tokens, None)
        self._taken = 0
        self._depth = 0

    def whole(self) -> bool:
        value = self._condition()
        if self._next is not None:
            raise NotACondition(
                f"{self._next_as_text()} does not belong there. Put a text of several words in quotes."
            )
        return value

    def _condition(self) -> bool:
        value = self._all()
        while self._is_word("OR"):
            self._take()
            value = self._all() or value  # in this order: the right side must always be read
        return value

    def _all(self) -> bool:
        value = self._one()
        while self._is_word("AND"):
            self._take()
            value = self._one() and value
        return value

    def _one(self) -> bool:
        if self._is("bracket", "("):
            return self._condition_in_brackets()
        left = self._operand()
        if self._is("sign"):
            sign = self._take()
            return _comparison(left, sign, self._operand())
        return bool(left)

    def _condition_in_brackets(self) -> bool:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotACondition(f"Brackets may lie {_DEEPEST} deep.")
        self._take()
        value = self._condition()
        if not self._is("bracket", ")"):
            raise NotACondition(f"{self._next_as_text()} stands where a closing bracket belongs.")
        self._take()
        self._depth -= 1
        return value

    def _operand(self) -> Operand:
        if self._is("number"):
            return float(self._take())
        if self._is("text"):
            return self._take()[1:-1]
        if not self._is("word") or self._is_word("AND") or self._is_word("OR"):
            raise NotACondition(f"{self._next_as_text()} stands where a value belongs.")
        word = self._take()
        return {"TRUE": True, "FALSE": False}.get(word.upper(), word)

    def _take(self) -> str:
        self._taken += 1
        if self._taken > _MOST_TOKENS:
            raise NotACondition(f"A condition may have {_MOST_TOKENS} words and signs.")
        text = self._next[0] if self._next else ""
        self._next = next(self._tokens, None)
        return text

    def _is(self, kind: str, text: str | None = None) -> bool:
        found = self._next
        return found is not None and found.lastgroup == kind and text in (None, found[0])

    def _is_word(self, word: str) -> bool:
        return self._next is not None and self._next.lastgroup == "word" and self._next[0].upper() == word

    def _next_as_text(self) -> str:
        return repr(self._next[0][:40]) if self._next else "The end"


def _comparison(left: Operand, sign: str, right: Operand) -> bool:
    if sign in _EQUALITY:
        return _EQUALITY[sign](left, right)
    return type(left) is float and type(right) is float and _ORDER[sign](left, right)


class Properties(NodeProperties):
    """Properties of a Conditional node."""

    condition: Line = Field(
        "", description="Comparisons with == != >= <= > <, joined by AND and OR, with brackets and variables."
    )


class Conditional(ValueNode[Properties]):
    """Outputs whether its condition holds; FALSE, with a note, for an invalid condition."""

    kind = "Conditional"
    properties_type = Properties
    filled = ("condition",)

    async def value(self, step: Step) -> str:
        """`TRUE` or `FALSE`."""
        try:
            return "TRUE" if holds(step.fill(self.properties.condition)) else "FALSE"
        except NotACondition as exc:
            step.note(f"The condition cannot be read, so it is FALSE: {exc}")
            return "FALSE"
