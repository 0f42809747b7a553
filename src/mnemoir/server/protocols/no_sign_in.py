"""Where agents that got a 401 look for a way to sign in: each address says that there is none."""

from starlette.requests import Request
from starlette.responses import Response

from mnemoir.core.errors import NotFound
from mnemoir.server.door.says import says
from mnemoir.server.protocols.agent_tools import PATH
from mnemoir.server.rest import Routes

_NO_SIGN_IN = (
    "This server lets no program in by OAuth. Make a key by `mnemoir keys create`, and have the program send it "
    "as the header `Authorization: Bearer <key>`."
)

router = Routes()


@says("open", query=())
async def _no_sign_in(request: Request) -> Response:
    raise NotFound(_NO_SIGN_IN)


# where clients that got a 401 look for a way to sign in; they give up cleanly where each says that there is none
for _path in ("/.well-known/{document:path}", f"{PATH}/.well-known/{{document:path}}"):
    router.add_route(_path, _no_sign_in, ["GET"], include_in_schema=False)
router.add_route("/register", _no_sign_in, ["POST"], include_in_schema=False)
