-- Background work, beside procrastinate's own statements. They run in `Database.jobs()`, whose search path is its schema.

-- name: put_back
-- Jobs whose worker has gone: unregistered, or silent for too long. One statement, so that of two workers that look at
-- once only one puts a job back: procrastinate's own way, reading and then writing, could take it from a third that has
-- just begun with it. An equal one that waits already does what this one would have done, and a job that has outlived
-- its worker too often is not tried again.
WITH stalled AS (
  SELECT job.id, job.queueing_lock
    FROM procrastinate_jobs job
   WHERE job.status = 'doing'
     AND NOT EXISTS (SELECT FROM procrastinate_workers worker
                      WHERE worker.id = job.worker_id
                        AND worker.last_heartbeat >= now() - make_interval(secs => %(stalled_s)s))
     FOR UPDATE OF job SKIP LOCKED
), numbered AS (
  SELECT id, queueing_lock, row_number() OVER (PARTITION BY queueing_lock ORDER BY id) AS place FROM stalled
), again AS (
  SELECT id FROM numbered
   WHERE queueing_lock IS NULL
      OR place = 1 AND NOT EXISTS (SELECT FROM procrastinate_jobs equal
                                    WHERE equal.queueing_lock = numbered.queueing_lock AND equal.status = 'todo')
), dropped AS (
  DELETE FROM procrastinate_jobs WHERE id IN (SELECT id FROM stalled EXCEPT SELECT id FROM again)
)
UPDATE procrastinate_jobs
   SET status = CASE WHEN attempts + 1 < %(attempts_max)s THEN 'todo' ELSE 'failed' END::procrastinate_job_status,
       attempts = attempts + 1, abort_requested = false
 WHERE id IN (SELECT id FROM again)
RETURNING id, task_name, status::text AS status;

-- name: left_to_do
-- What a worker still has before it: jobs that are due, those it has begun with, and those whose worker is gone, which
-- are about to be put back.
SELECT count(*) AS jobs
  FROM procrastinate_jobs
 WHERE queue_name = ANY (%(queues)s)
   AND (status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now())
        OR status = 'doing' AND (worker_id = ANY (%(workers)s)
             OR NOT EXISTS (SELECT FROM procrastinate_workers w WHERE w.id = procrastinate_jobs.worker_id)));
