import type { Database } from 'better-sqlite3';
import { createAccept } from './accept.js';
import { createCallWrites } from './call-writes.js';
import { createEventTable } from './event-table.js';
import { createFaultWrites } from './fault-writes.js';
import { createKeyWrites } from './key-writes.js';
import { createLeaseWrites } from './lease-writes.js';
import { createPruneSome } from './prune.js';
import { createSessionTable } from './session-table.js';
import { createBury, createSessionWrites } from './session-writes.js';
import type { Handlers } from './steps.js';
import { createSecretWrites } from './secret-writes.js';
import { createTurnTable } from './turn-table.js';
import { createTurnWrites } from './turn-writes.js';
import { createAddUsage } from './usage-table.js';
import { createUseTable } from './use-table.js';

/** Every step that writes, on one connection, with its statements prepared. */
export function createWrites(db: Database): Handlers {
  const sessions = createSessionTable(db);
  const turns = createTurnTable(db);
  const events = createEventTable(db);
  const uses = createUseTable(db);
  const bury = createBury(db, sessions);
  return {
    ...createSessionWrites(sessions, events, bury),
    acceptMessage: createAccept(db, { sessions, turns, events, uses }),
    countRequest(quotas) {
      const exhausted = uses.findExhausted(quotas);
      if (exhausted === undefined) for (const quota of quotas) uses.add({ ...quota, amount: 1 });
      return exhausted;
    },
    ...createFaultWrites(db, sessions),
    ...createTurnWrites({ sessions, turns, events, uses }),
    ...createLeaseWrites(db, turns),
    ...createCallWrites(db, { sessions, events }),
    ...createKeyWrites(db),
    ...createSecretWrites(db),
    addUsage: createAddUsage(db),
    pruneSome: createPruneSome(db, bury),
  };
}
