-- Whether what was found before still answers.

-- name: snapshot
-- Taken before the search: whatever commits later was not seen by it. A number drawn from a sequence would not do, since
-- a smaller one may be committed after a larger one.
SELECT pg_current_snapshot()::text;

-- name: written_since
-- Whether anything that shares a word with the question was written by a transaction that the snapshot did not see. The
-- oldest transaction that was running then is where the index scan begins.
SELECT EXISTS (SELECT FROM clew.memory_changes c
                 JOIN clew.memories m ON m.tenant_id = %(tenant_id)s AND m.memory_id = c.memory_id
                 JOIN clew.memory_terms t ON t.tenant_id = %(tenant_id)s AND t.seq = m.seq AND t.term = ANY(%(terms)s)
                WHERE c.tenant_id = %(tenant_id)s AND c.written_in >= pg_snapshot_xmin(%(snapshot)s::pg_snapshot)
                  AND NOT pg_visible_in_snapshot(c.written_in, %(snapshot)s::pg_snapshot))
       OR
       EXISTS (SELECT FROM clew.fact_changes c
                 JOIN clew.facts f ON f.tenant_id = %(tenant_id)s AND f.fact_id = c.fact_id
                 JOIN clew.fact_terms t ON t.tenant_id = %(tenant_id)s AND t.seq = f.seq AND t.term = ANY(%(terms)s)
                WHERE c.tenant_id = %(tenant_id)s AND c.written_in >= pg_snapshot_xmin(%(snapshot)s::pg_snapshot)
                  AND NOT pg_visible_in_snapshot(c.written_in, %(snapshot)s::pg_snapshot));
