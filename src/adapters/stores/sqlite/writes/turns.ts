import { cancelTurns, type Tables } from './accept-message.js';
import { isOpen } from '../../../../core/model/turn.js';
import type { Handlers } from '../steps.js';
import type { SessionRow } from '../rows/session-row.js';
import type { OwnedTurn } from '../rows/turn-table.js';

/** The write steps that interrupt a turn, save its progress, end it and count what it used. */
export function createTurnWrites({
  sessions,
  turns,
  events,
  uses,
}: Tables): Pick<Handlers, 'interruptTurns' | 'saveProgress' | 'endTurn' | 'countAttempts'> {
  function sessionOf(turn: OwnedTurn): SessionRow {
    const row = sessions.findLiveByRef(turn.session);
    if (row === undefined) throw new Error(`turn ${turn.id} has no session`);
    return row;
  }

  return {
    interruptTurns(sessionId, at) {
      const row = sessions.findLive(sessionId);
      if (row === undefined) return undefined;
      const interruption = cancelTurns(turns, row.ref, at);
      if (interruption.cancelled.length === 0 && interruption.running === null) return undefined;
      // When a turn is running, `endTurn` sets the flag.
      if (interruption.running === null) row.interrupted = 1;
      const commit = events.commit(row, [], at);
      sessions.saveCounters(row);
      return { ...interruption, commit };
    },

    saveProgress(turn, progress, at) {
      const owned = turns.findOwned(turn);
      if (owned === undefined) return 'lost';
      const row = sessionOf(owned);
      if (progress.repeatsAfter !== undefined && progress.events.length > 0) {
        const logged = events.findLogged(row, progress.events, progress.repeatsAfter);
        if (logged !== undefined) return { revision: row.revision, events: logged };
      }
      turns.putMessages(row, owned.no, progress.messages);
      if (progress.partialText !== null)
        turns.savePartialText(owned, progress.partialText, progress.partialSince ?? 0);
      if (progress.messages.length === 0 && progress.events.length === 0) {
        return { revision: row.revision, events: [] };
      }
      const commit = events.commit(row, progress.events, at);
      sessions.saveCounters(row);
      return commit;
    },

    endTurn(turn, ending) {
      const owned = turns.findOwned(turn);
      if (owned === undefined) return 'lost';
      const { outcome, error, at } = ending;
      const row = sessionOf(owned);
      turns.putMessages(row, owned.no, ending.messages);
      turns.end({ ref: owned.ref, status: outcome, ended_at: at, error, rig: ending.rig });
      turns.addTokens(owned.ref, ending);
      for (const use of ending.uses) uses.add(use);
      if (error !== null) events.addSystemEvent(row, 'SystemError', error, at);
      const head = turns.findHead(row.ref);
      row.interrupted = outcome === 'interrupted' && head === undefined ? 1 : 0;
      row.active_at = Math.max(row.active_at, at);
      const commit = events.commit(row, ending.events, at);
      sessions.saveCounters(row);
      const next =
        head !== undefined && ending.claimNext !== null ? turns.claim(head, ending.claimNext, 0) : null;
      return { commit, next };
    },

    countAttempts(attempts) {
      for (const attempt of attempts) {
        const row = turns.find(attempt.turnId);
        if (row?.attempt === attempt.attempt && !isOpen(row.status)) continue;
        if (row !== undefined) turns.addTokens(row.ref, attempt);
        for (const use of attempt.uses) uses.add(use);
      }
      return undefined;
    },
  };
}
