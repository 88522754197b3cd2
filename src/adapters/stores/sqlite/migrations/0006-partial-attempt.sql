-- The attempt that stored partial_text: to whoever reads along, what an earlier one had is not the newer one's.
ALTER TABLE turns ADD COLUMN partial_attempt INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET partial_attempt = attempt WHERE status = 'running';
