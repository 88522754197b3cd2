-- Which process has the errors above faults_shown in an answer, and until when.
ALTER TABLE sessions ADD COLUMN faults_claimed_by TEXT;
ALTER TABLE sessions ADD COLUMN faults_claimed_until INTEGER; -- milliseconds since the epoch
