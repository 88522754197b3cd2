-- Lists the logs that had grown before the triggers of 0020 existed. In a migration of its own, so that no lock of 0020 is
-- held during the scan. In the order in which nodes lock sessions, so that it cannot deadlock with the triggers.
INSERT INTO long_logs (session, oldest_at)
SELECT ref, 0 FROM sessions WHERE last_event_id >= 64 OR last_system_no >= 64 ORDER BY ref
ON CONFLICT (session) DO NOTHING;
