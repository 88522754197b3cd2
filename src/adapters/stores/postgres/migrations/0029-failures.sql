-- Counts the records that state why their turn failed, without reading the thread.
CREATE INDEX failures_of_session ON messages (session) WHERE role = 'system' AND origin IS NULL AND position > 0;
