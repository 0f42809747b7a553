"""What every request passes, in this order:

1. `entry`: the connection, with its limits and deadlines (`crowd`, `lingering`); then an id, a line in the log and
   the headers of every answer. An error becomes its answer in `errors`
2. `routing`: the path is made plain
3. `access`: a browser must ask this server by its own name and from its own pages (`origins`)
4. `ui`: pages and their files, which need no key, and of what follows only a place in the crowd
5. `access`: who asks, by key, token or cookie (`sessions`, `client_address`), with which right (`rights`), how often
   (`rate_limits`), and in what a crowd of connections (`shares`)
6. `turns`: the requests of one key do not crowd out those of others
7. `auditing`: acts on somebody's data are written down, before and after
8. the route, found by `routing`. It takes whose data it is about from `scopes`, a place beside other chats from
   `under_way`, and what may be changed from `changing`
"""
