/** The writing thread of the reference: commits whatever waits as one transaction, and says how many rows it was. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { SqliteDatabase } from '../../../src/adapters/stores/sqlite/driver.js';

/** What the reference stores. */
export type Row =
  | { readonly kind: 'session'; readonly session: string }
  | { readonly kind: 'message'; readonly session: string; readonly role: string; readonly content: string };

const MAX_BATCH = 512;
const port = parentPort;
if (port === null) throw new Error('this module runs in a worker thread');

const db = new SqliteDatabase(String(workerData));
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.pragma('wal_autocheckpoint = 8000');
db.exec(`
  CREATE TABLE sessions (ref INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
  CREATE TABLE messages (ref INTEGER PRIMARY KEY, session TEXT NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL,
    created_at INTEGER NOT NULL) STRICT;
  CREATE INDEX messages_of_session ON messages (session);
`);
const putSession = db.prepare('INSERT OR IGNORE INTO sessions (id, title, created_at) VALUES (?, ?, ?)');
const putMessage = db.prepare(
  'INSERT INTO messages (session, role, content, created_at) VALUES (?, ?, ?, ?)',
);

const writeAll = db.transaction((rows: readonly Row[]) => {
  for (const row of rows) {
    if (row.kind === 'session') putSession.run(row.session, 'New Chat', Date.now());
    else putMessage.run(row.session, row.role, row.content, Date.now());
  }
});

port.on('message', (first: readonly Row[]) => {
  const rows = [...first];
  while (rows.length < MAX_BATCH) {
    const waiting: { message: readonly Row[] } | undefined = receiveMessageOnPort(port);
    if (waiting === undefined) break;
    rows.push(...waiting.message);
  }
  writeAll(rows);
  port.postMessage(rows.length);
});
