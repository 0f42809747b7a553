-- text: agent, app, by, conversation, kind, origin, place_id, session, tenant
-- integer: limit, sign
-- real: at, horizon, now, place_at, since, until
-- boolean: hidden, place_untimed
-- texts: ids
-- integers: seqs

-- part: valid
CASE WHEN :at IS NULL THEN valid_to IS NULL
     ELSE (valid_from IS NULL OR valid_from <= :at) AND (valid_until IS NULL OR valid_until > :at) END

-- part: said_by
coalesce(origin, CASE
        WHEN kind = 'fact' THEN 'user' WHEN role IN ('assistant', 'tool', 'document') THEN role
        WHEN role = 'function' THEN 'tool' ELSE 'api' END)

-- part: wanted
-- The memories of a scope that are current, or were at an instant, and meet every condition given; by index
-- memories_by_age.
scope_id = :scope_id AND {valid}
AND (:agent IS NULL OR agent = :agent) AND (:app IS NULL OR app = :app)
AND (:conversation IS NULL OR conversation = :conversation)
AND (:kind IS NULL OR kind = :kind)
AND (:origin IS NULL OR :origin = {said_by})
AND (:hidden IS NULL OR :hidden = ((:horizon IS NOT NULL AND coalesce(effective_at < :horizon, FALSE))
                                   OR coalesce(expires_at <= :now, FALSE)))
AND (:since IS NULL OR CASE :by WHEN 'updated' THEN effective_at ELSE said_at END >= :since)
AND (:until IS NULL OR CASE :by WHEN 'updated' THEN effective_at ELSE said_at END < :until)
AND (:ids IS NULL OR id {in ids})
AND (:seqs IS NULL OR seq {in seqs})

-- name: selected
-- A page of what is wanted in the order asked for, behind a place. Only numbers and times are sorted. The place is
-- (1 for no time, time times :sign, id).
WITH held (seq, id, at) AS (
    SELECT seq, id, :sign * CASE :by WHEN 'updated' THEN effective_at ELSE said_at END
      FROM memories WHERE {wanted}
), page (seq, at, id) AS (
    SELECT seq, at, id FROM held
     WHERE :place_id IS NULL OR (at IS NULL) > :place_untimed
        OR ((at IS NULL) = :place_untimed
            AND (coalesce(at, 0) > :place_at
                 OR (coalesce(at, 0) = :place_at AND CASE :sign WHEN 1 THEN id > :place_id ELSE id < :place_id END)))
     ORDER BY at IS NULL, at, CASE :sign WHEN 1 THEN id END, CASE :sign WHEN -1 THEN id END DESC LIMIT :limit
)
SELECT m.seq, m.id, m.text, m.created_at, m.updated_at, m.metadata, m.kind, m.agent, m.app, m.conversation, m.role,
       m.speaker, m.expires_on, m.valid_to, m.replaced_by, m.extra, m.origin
  FROM page {then join} memories AS m ON m.scope_id = :scope_id AND m.seq = page.seq
 ORDER BY page.at IS NULL, page.at, CASE :sign WHEN 1 THEN page.id END, CASE :sign WHEN -1 THEN page.id END DESC;

-- name: selected_count
-- How many `selected` gives without a place and a limit.
SELECT count(*) FROM memories WHERE {wanted};

-- name: selected_seqs
-- Their numbers, unsorted.
SELECT seq FROM memories WHERE {wanted};

-- name: weeks
-- How many of what is wanted there are of each origin by the week of their first and of their last time, where that is
-- later; unsorted. Weeks begin on Monday (UTC) and are counted from 1970-01-05; NULL for no time.
SELECT CAST(floor((said_at / 86400 - 4) / 7) AS integer),
       CASE WHEN effective_at > said_at THEN CAST(floor((effective_at / 86400 - 4) / 7) AS integer) END,
       {said_by}, count(*)
  FROM memories WHERE {wanted} GROUP BY 1, 2, 3;

-- name: texts
-- Numbers and texts of the memories of a scope that are current or were at an instant, in no order.
SELECT seq, text FROM memories WHERE scope_id = :scope_id AND {valid};

-- name: metadata_of_each
-- Numbers and metadata of those that have any, in no order.
SELECT seq, metadata FROM memories WHERE scope_id = :scope_id AND {valid} AND metadata IS NOT NULL;

-- name: learned_in
-- The memories of a scope that were made or changed by what was said in a session, unsorted.
SELECT DISTINCT memory_id FROM history
 WHERE scope_id = :scope_id
   AND source_id IN (SELECT id FROM sources WHERE scope_id = :scope_id AND session = :session);

-- name: bytes_by_user
-- The bytes of texts and metadata of current memories of each user of a tenant, as they are stored; by looking at all.
SELECT s.user, sum(octet_length(m.text) + coalesce(octet_length(m.metadata), 0))
  FROM scopes AS s {then join} memories AS m ON m.scope_id = s.id AND m.valid_to IS NULL
 WHERE s.tenant = :tenant
 GROUP BY s.user;

-- name: owners
-- Every user of a tenant with current memories: project, name, how many, the last renewal; by project, then by name.
SELECT s.project, s.user, count(*), max(m.effective_at)
  FROM scopes AS s {then join} memories AS m ON m.scope_id = s.id AND m.valid_to IS NULL
 WHERE s.tenant = :tenant
 GROUP BY s.project, s.user ORDER BY s.project, s.user;
