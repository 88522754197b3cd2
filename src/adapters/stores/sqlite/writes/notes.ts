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
    const live = sessions.findLive(sessionId);
    const size = Buffer.byteLength(text);
    const bytes = live?.text_bytes ?? 0;
    if (bytes + size > maxSessionBytes) return { kind: 'full', bytes };
    const created = live === undefined;
    const row = live ?? sessions.create(sessionId, at);
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
