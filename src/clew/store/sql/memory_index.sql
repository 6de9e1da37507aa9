-- An approximate index for one large tenant: a shared one gave a 4,000-row tenant recall 0.49 under row security.

-- name: there
-- Whether it is, and is finished.
SELECT i.indisvalid
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE c.relnamespace = 'clew'::regnamespace AND c.relname = %(index)s;

-- name: create
-- Concurrently: the tenant is written to and searched meanwhile.
CREATE INDEX CONCURRENTLY {index} ON clew.memory_vectors
 USING hnsw ((embedding::halfvec({dimensions})) halfvec_ip_ops)
 WHERE tenant_id = {tenant_id} AND space = {space};

-- name: drop
-- One that was never finished is of no use, and in the way of the next.
DROP INDEX CONCURRENTLY IF EXISTS clew.{index};

-- name: prefer
-- Not left to the planner: without sorting, only the index has an order. 400 looks for at most 300 wanted.
SET LOCAL hnsw.ef_search = 400; SET LOCAL enable_sort = off;

-- name: prefer_no_more
-- The statements after this one are planned as always.
SET LOCAL enable_sort = on;

-- name: nearest
-- The index's own expression and condition, so that it is used.
SELECT v.seq
  FROM clew.memory_vectors v
 WHERE v.tenant_id = %(tenant_id)s AND v.space = %(space)s
 ORDER BY v.embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})
 LIMIT %(limit)s;
