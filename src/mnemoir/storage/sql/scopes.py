"""Scopes by number: one row for each user of a project, whose number leads every key of that user's rows."""

from mnemoir.core.scope import Scope
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sql.queries import queries

_QUERIES = queries("scopes")


def owner_values(scope: Scope) -> dict[str, str]:
    """The values that name a user in a query."""
    return {"tenant": scope.tenant, "project": scope.project, "user": scope.user}


def of_scope(sql: Sql, scope: Scope | None) -> Sql:
    """The transaction within a scope. For an unknown one, and for None, queries of a scope return no rows."""
    found = None if scope is None else sql.row(_QUERIES["scope_id"], **owner_values(scope))
    return sql.within(None if found is None else found[0])


def entered(sql: Sql, scope: Scope) -> Sql:
    """The transaction within a scope, which is assigned a number if it has none."""
    if sql.scope_id is not None:
        return sql
    sql.run(_QUERIES["enter_scope"], **owner_values(scope))
    return of_scope(sql, scope)
