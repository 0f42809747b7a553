"""`/api/auth`, `/api/me/…`, `/api/users` and `/api/invitations`: people who sign in to the page."""

from mnemoir.server.sign_in import auth, me, oidc, passkeys, users

ROUTERS = (auth.router, oidc.router, passkeys.router, me.router, users.router)
