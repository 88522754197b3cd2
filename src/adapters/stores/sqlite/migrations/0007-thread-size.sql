-- The size of a thread's text, in bytes of UTF-8 (content, and calls and results as JSON), and the number of messages
-- that a snapshot shows for it: one for a text, and one for each tool result. Every write of messages updates both.
ALTER TABLE sessions ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN shown_messages INTEGER NOT NULL DEFAULT 0;

UPDATE sessions SET text_bytes = held.bytes, shown_messages = held.shown
FROM (
  SELECT
    session,
    sum(octet_length(content) + coalesce(octet_length(tool_calls), 0) + coalesce(octet_length(tool_results), 0)) AS bytes,
    sum((content <> '' OR role <> 'assistant') + coalesce(json_array_length(tool_results), 0)) AS shown
  FROM messages GROUP BY session
) AS held
WHERE held.session = sessions.ref;
