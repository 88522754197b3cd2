import type { Database } from 'better-sqlite3';
import type { SystemFault } from '../../../../core/model/event.js';
import { SESSION_FAULTS } from '../rows/turn-rows.js';
import type { SessionTable } from '../rows/session-table.js';
import type { Handlers } from '../steps.js';

/** The write steps that track which faults of a session have been delivered in a snapshot. */
export function createFaultWrites(
  db: Database,
  sessions: SessionTable,
): Pick<Handlers, 'claimFaults' | 'releaseFaults' | 'markFaultsShown'> {
  const select = db.prepare<[session: number, after: number], SystemFault>(SESSION_FAULTS);
  return {
    claimFaults(id, { owner, milliseconds }, lost) {
      const row = sessions.findLive(id);
      if (row === undefined) return { faults: [], shown: 0, held: null };
      const { faults_claimed_by: holder, faults_claimed_until: until, faults_shown: shown } = row;
      const now = Date.now();
      if (holder !== null && holder !== owner && until !== null && until > now) {
        const held = `${holder}:${String(until)}`;
        if (held !== lost) return { faults: [], shown, held };
      }
      const faults = select.all(row.ref, shown);
      if (faults.length > 0) {
        row.faults_claimed_by = owner;
        row.faults_claimed_until = now + milliseconds;
        sessions.save(row);
      }
      return { faults, shown, held: null };
    },

    releaseFaults(id, owner) {
      const row = sessions.findLive(id);
      if (row?.faults_claimed_by !== owner) return undefined;
      row.faults_claimed_by = null;
      row.faults_claimed_until = null;
      sessions.save(row);
      return undefined;
    },

    markFaultsShown(id, n) {
      const row = sessions.findLive(id);
      if (row === undefined || row.faults_shown >= n) return undefined;
      row.faults_shown = n;
      sessions.save(row);
      return undefined;
    },
  };
}
