-- When the first character of partial_text was shown, in milliseconds since the epoch; 0: unknown.
ALTER TABLE turns ADD COLUMN partial_since INTEGER NOT NULL DEFAULT 0;
