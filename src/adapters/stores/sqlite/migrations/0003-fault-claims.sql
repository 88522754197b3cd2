-- The process that is delivering the errors above faults_shown in a response, and when its claim ends.
ALTER TABLE sessions ADD COLUMN faults_claimed_by TEXT;
ALTER TABLE sessions ADD COLUMN faults_claimed_until INTEGER; -- milliseconds since the epoch
