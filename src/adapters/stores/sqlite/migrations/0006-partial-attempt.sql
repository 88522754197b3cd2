-- The attempt that stored partial_text, so that readers can tell an earlier attempt's text from the current one's.
ALTER TABLE turns ADD COLUMN partial_attempt INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET partial_attempt = attempt WHERE status = 'running';
