"""What the routes of imports accept."""

from typing import Annotated

from pydantic import Field

from mnemoir.server.body import Body


class LearnBody(Body):
    """The calls of a model that the estimate named: learning begins only where it still takes these."""

    model: Annotated[str, Field(max_length=512)]
    least_calls: Annotated[int, Field(ge=0, lt=2**53)]
    most_calls: Annotated[int, Field(ge=0, lt=2**53)]
