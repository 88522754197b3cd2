import type { Database } from 'better-sqlite3';
import { createAccept } from './accept-message.js';
import { createBranchSession } from './branches.js';
import { createCallWrites } from './calls.js';
import { createEventTable } from '../rows/event-table.js';
import { createFaultWrites } from './faults.js';
import { createKeyWrites } from './keys.js';
import { createLeaseWrites } from './leases.js';
import { createPruneSome } from './prune.js';
import { createSessionTable } from '../rows/session-table.js';
import { createBury, createSessionWrites } from './sessions.js';
import type { Handlers } from '../steps.js';
import { createSecretWrites } from './secrets.js';
import { createAddNote } from './notes.js';
import { createOutcomeWrites } from './wallet-outcomes.js';
import { createWalletWrites } from './wallet-staging.js';
import { createWalletTable } from '../rows/wallet-table.js';
import { createTurnTable } from '../rows/turn-table.js';
import { createTurnWrites } from './turns.js';
import { createSaveActivity } from '../rows/activity-table.js';
import { createAddUsage, createNoticeWrites } from '../rows/usage-table.js';
import { createQuotaTable } from '../rows/quota-table.js';

/** Creates all write steps on one connection, with their statements prepared. */
export function createWrites(db: Database): Handlers {
  const sessions = createSessionTable(db);
  const turns = createTurnTable(db);
  const events = createEventTable(db);
  const uses = createQuotaTable(db);
  const requests = createWalletTable(db);
  const bury = createBury(db, sessions);
  return {
    ...createSessionWrites(sessions, events, bury),
    branchSession: createBranchSession(db, { sessions, events }),
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
    ...createWalletWrites({ sessions, turns, events, requests }),
    ...createOutcomeWrites({ sessions, turns, events, requests }),
    addNote: createAddNote({ sessions, turns, events }),
    ...createKeyWrites(db),
    ...createSecretWrites(db),
    addUsage: createAddUsage(db),
    ...createNoticeWrites(db),
    saveActivity: createSaveActivity(db),
    pruneSome: createPruneSome(db, bury),
  };
}
