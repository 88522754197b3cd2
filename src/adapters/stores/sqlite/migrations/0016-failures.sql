-- Counts the records that state why their turn failed, without reading the thread. Has all columns of the condition, so
-- that the count reads no row.
CREATE INDEX failures_of_session ON messages (session, role, origin, position)
WHERE role = 'system' AND origin IS NULL AND position > 0;
