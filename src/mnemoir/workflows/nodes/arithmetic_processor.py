"""ArithmeticProcessor: an arithmetic operation on two numbers."""

import operator
import re
from collections.abc import Callable, Mapping
from math import isfinite

from pydantic import Field

from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step

_LONGEST = 400  # characters: a longer text is not meant as an expression
_NUMBER = r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_SUM = re.compile(rf"({_NUMBER})\s*([-+*/])\s*({_NUMBER})")
_NO_RESULT = "-1"


def calculate(expression: str) -> int | float | None:
    """The result of `<number> <+ - * /> <number>`, an int if it is whole.

    None for any other text, for a division by zero, and for a result too large for a float.
    """
    if len(expression) > _LONGEST:
        return None
    found = _SUM.fullmatch(expression.strip())
    if found is None:
        return None
    left, sign, right = found.groups()
    try:
        result = _SIGNS[sign](_number(left), _number(right))
    except ArithmeticError:  # division by zero, or an overflow
        return None
    if isinstance(result, int):
        return result
    if not isfinite(result):
        return None
    return int(result) if result.is_integer() else result


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _quotient(left: int | float, right: int | float) -> int | float:
    """The quotient, exact for whole numbers where possible: a float has only 53 bits."""
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        return left // right
    return left / right


_SIGNS: Mapping[str, Callable[[int | float, int | float], int | float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
}


class Properties(NodeProperties):
    """Properties of an ArithmeticProcessor node."""

    expression: Line = Field("", description="<number> <+ - * /> <number>, with variables.")


class ArithmeticProcessor(ValueNode[Properties]):
    """Calculates an expression; any other text gives -1."""

    kind = "ArithmeticProcessor"
    properties_type = Properties
    filled = ("expression",)

    async def value(self, step: Step) -> str:
        """The result as a text, without a decimal point where it is whole."""
        expression = step.fill(self.properties.expression)
        result = calculate(expression)
        if result is None:
            step.note(f"{expression[:80]!r} cannot be calculated; {_NO_RESULT} was taken.")
            return _NO_RESULT
        return str(result)
