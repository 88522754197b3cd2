import { toSession } from '../rows/session-row.js';
import type { Handlers } from '../steps.js';
import type { Tables } from './accept-message.js';
import { countTurn, insertNote } from './new-turn.js';

/** Creates the `addNote` step. */
export function createAddNote({
  sessions,
  turns,
  events,
}: Pick<Tables, 'sessions' | 'turns' | 'events'>): Handlers['addNote'] {
  return ({ sessionId, turnId, messageId, app, text, maxSessionBytes, at }) => {
    const { row, created } = sessions.open(sessionId, at);
    const size = Buffer.byteLength(text);
    if (row.text_bytes + size > maxSessionBytes) return { kind: 'full', bytes: row.text_bytes };
    if (created) row.version += 1;
    countTurn(row, size, at);
    const commit = events.commit(row, [], at);
    if (created) sessions.save(row);
    else sessions.saveCounters(row);
    const { turn, message } = insertNote(
      turns,
      row,
      { id: turnId, app, clientId: null, keyId: null, createdAt: at },
      { id: messageId, role: 'system', content: text },
    );
    return { kind: 'noted', session: toSession(row), created, turn, message, commit };
  };
}
