"""What every request passes, in this order:

1. `entry`: the connection, with its limits and deadlines (`crowd`, `lingering`); then an id, a line in the log and
   the headers of every answer. An error becomes its answer in `errors`
2. `routing`: the path is made plain
3. `access`: a browser must ask this server by its own name and from its own pages (`origins`)
4. `table`: the route is found, by method and path alone, before a key is looked at and before a byte of the body is
   read. From here on all goes by what the route says of itself (`says`)
5. `ui`: a GET of pages and their files, which needs no key, and of what follows only a place in the crowd. They and
   routes have no path in common but `/`, so a request whose route was found does not come here
6. `access`: who asks, by key, by token, or by cookie with the token of the page (`sessions`, `client_address`); else
   401. Routes that say `open` let everybody pass, with no look at keys, and those that say `signing_in` do, too
7. `rate_limits`: the request counts for the bucket of its route; else 429
8. `says`: the caller has the right that the route takes; else 403
9. `routing`: a path that no route has gets 404, a method that its routes have not gets 405, and OPTIONS gets the
   methods that they have. Step 6 to 8 take such a request as one that reads and that every caller may make. What
   the route does not know of a request (`conditions`: a query parameter, a missing name) gets 400
10. `crowd`: room for its connection beside others of the same caller; else 503. This counts for every answer from
    step 3 on
11. `turns`: the requests of one key do not crowd out those of others
12. `auditing`: acts on somebody's data are written down, before and after
13. the route that was found. Nothing searches again: chats run at once, all others within the layers of the REST
    application. A route takes whose data it is about from `scopes`, a place beside other chats from `under_way`, and
    what may be changed from `changing`
"""
