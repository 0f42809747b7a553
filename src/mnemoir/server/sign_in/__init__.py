"""`/api/auth`, `/api/me/…`, `/api/users` and `/api/invitations`: people who sign in to the page."""

from mnemoir.server.sign_in import adopting, auth, me, oidc, passkeys, terminal, users

ROUTERS = (auth.router, terminal.router, oidc.router, passkeys.router, me.router, users.router, adopting.router)
