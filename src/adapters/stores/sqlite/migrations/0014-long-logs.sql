-- Sessions whose log has grown since it was last trimmed, so that trimming reads these alone. A session is listed
-- whenever its log has grown by 64 events or 64 system events.
-- oldest_at: the log has nothing to remove that is older; 0: not known yet.
CREATE TABLE long_logs (
  session INTEGER PRIMARY KEY REFERENCES sessions (ref),
  oldest_at INTEGER NOT NULL
) STRICT;

-- Finds the logs to trim.
CREATE INDEX long_logs_by_age ON long_logs (oldest_at, session);

-- Sessions that are copied from another database have a log from the start.
CREATE TRIGGER log_copied AFTER INSERT ON sessions
WHEN NEW.last_event_id >= 64 OR NEW.last_system_no >= 64
BEGIN
  INSERT OR IGNORE INTO long_logs (session, oldest_at) VALUES (NEW.ref, 0);
END;

INSERT INTO long_logs (session, oldest_at)
SELECT ref, 0 FROM sessions WHERE last_event_id >= 64 OR last_system_no >= 64;
