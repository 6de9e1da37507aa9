-- What procrastinate's schema makes and we do without: triggers that NOTIFY. Nobody listens, since LISTEN does not work
-- behind pgbouncer, and transactions that NOTIFY commit one after the other.
DROP TRIGGER procrastinate_jobs_notify_queue_job_inserted_v1 ON clew_jobs.procrastinate_jobs;
DROP TRIGGER procrastinate_jobs_notify_queue_job_aborted_v1 ON clew_jobs.procrastinate_jobs;
DROP FUNCTION clew_jobs.procrastinate_notify_queue_job_inserted_v1, clew_jobs.procrastinate_notify_queue_abort_job_v1;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA clew_jobs TO clew_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA clew_jobs TO clew_app;
