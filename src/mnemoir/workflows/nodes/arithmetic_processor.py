"""ArithmeticProcessor: an arithmetic operation on two numbers."""

from pydantic import Field

from mnemoir.workflows.arithmetic import calculate
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.node import NodeProperties, ValueNode
from mnemoir.workflows.step import Step

_NO_RESULT = "-1"


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
