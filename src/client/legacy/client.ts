import { ClientError, unsupported } from '../error.js';
import { shown } from '../inner-event.js';
import { linked, type Life } from '../pacing.js';
import { randomId } from '../random-id.js';
import type { Client, ClientOptions, SendOptions, SessionEvent } from '../types.js';
import { wellFormed } from '../well-formed.js';
import type { Wire } from '../wire.js';
import { LegacyCalls } from './calls.js';
import { LegacyTurn, type Report, type TurnStep } from './turn.js';
import { watchLegacy, type Nudges } from './watch.js';

/** Returns a method for what the legacy surface has no call for. It rejects with a `ClientError`. */
const refuses = (what: string) => (): Promise<never> => Promise.reject(unsupported(what));

/** Creates a client for the legacy surface. */
export function legacyClient(wire: Wire, options: ClientOptions): Client {
  const calls = new LegacyCalls(wire, options);
  const listeners = new Set<Report>();
  const nudges: Nudges = new Set();
  const reporting = (turnId: string, message: string) => (step: TurnStep) => {
    for (const listen of listeners) listen(turnId, step, message);
  };

  return {
    surface: 'legacy',
    sessionId: wire.sessionId,
    create: (wallet) => calls.create(wallet),
    send: (text, sending = {}) => send(wellFormed(text), sending),
    ask: (text, sending = {}) => ask(wellFormed(text), sending),
    watch: (signal) => watchLegacy(wire, calls, { listeners, nudges }, signal),
    state: () => {
      // Without a `watch`, no event has reported a new title.
      calls.noteTitle(null);
      return calls.state();
    },
    refresh: () => {
      for (const nudge of nudges) nudge();
    },
    interrupt: () => calls.interrupt(),
    setUserState: refuses('set the user state'),
    threads: () => calls.threads(),
    rename: refuses('rename a thread'),
    archive: refuses('archive a thread'),
    delete: refuses('delete a thread'),
    branch: refuses('branch a thread'),
    historyPage: refuses('read the stored messages'),
    apps: () => calls.apps(),
    appDetails: async () => (await calls.apps()).map((name) => ({ name, secrets: [], prompts: null })),
    rigs: async () => (await calls.rigDetails()).map(({ id }) => id),
    rigDetails: () => calls.rigDetails(),
    selectRig: (rig) => calls.selectRig(rig),
    storedSecrets: refuses('store secrets'),
    storeSecret: refuses('store secrets'),
    deleteSecret: refuses('store secrets'),
    pending: refuses('list wallet requests'),
    reportSystem: refuses('use a wallet'),
    walletNonce: refuses('use a wallet'),
    proveWallet: refuses('use a wallet'),
    close: () => {
      wire.close();
    },
  };

  /**
   * Sends a message. While anyone watches, keeps reading the reply's stream; otherwise closes it, and the turn
   * continues on the service.
   */
  async function send(text: string, sending: SendOptions): Promise<void> {
    refuseUnsupported(sending);
    const id = sending.idempotencyKey ?? randomId();
    const report = reporting(id, text);
    const life = linked(wire.closed);
    const cancel = (): void => {
      life.abort(sending.signal?.reason);
    };
    const steps = new LegacyTurn(calls, text, id, life.signal).run();
    sending.signal?.addEventListener('abort', cancel);
    try {
      sending.signal?.throwIfAborted();
      for (let step = await steps.next(); ; step = await steps.next()) {
        life.signal.throwIfAborted();
        if (step.done === true) throw new ClientError('unreachable', 'The message was not sent');
        report(step.value);
        if (step.value.type === 'accepted') break;
      }
    } catch (error) {
      life.abort();
      await steps.return();
      throw error;
    } finally {
      sending.signal?.removeEventListener('abort', cancel);
    }
    void readOn(report, id, steps, life);
  }

  /** Reads the rest of a reply's stream. Never rejects: reports an error as the end of the turn. */
  async function readOn(
    report: (step: TurnStep) => void,
    id: string,
    steps: AsyncGenerator<TurnStep, void>,
    life: Life,
  ): Promise<void> {
    try {
      // Ended rather than left, so that nothing of the turn is kept.
      if (listeners.size === 0) await steps.return();
      for await (const step of steps) {
        report(step);
        if (listeners.size === 0) return;
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      report({ type: 'turn_ended', turnId: id, status: 'failed', error: message });
    } finally {
      life.abort();
      report({ type: 'left' });
    }
  }

  async function* ask(text: string, sending: SendOptions): AsyncGenerator<SessionEvent, void, undefined> {
    refuseUnsupported(sending);
    const id = sending.idempotencyKey ?? randomId();
    const report = reporting(id, text);
    const life = linked(wire.closed, sending.signal);
    try {
      for await (const step of new LegacyTurn(calls, text, id, life.signal).run()) {
        report(step);
        life.signal.throwIfAborted();
        if (step.type !== 'accepted' && step.type !== 'left') yield shown(step);
      }
      life.signal.throwIfAborted();
    } finally {
      life.abort();
      report({ type: 'left' });
    }
  }
}

function refuseUnsupported({ wallet, userState }: SendOptions): void {
  if (wallet !== undefined) throw unsupported('bind a wallet');
  if (userState !== undefined) throw unsupported('set the user state');
}
