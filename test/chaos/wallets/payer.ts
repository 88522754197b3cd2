import { z } from 'zod';
import { Random } from '../random.js';
import { read } from '../shapes.js';
import { ask, Cut, Hung, type Ask } from '../wire.js';
import { judge, judgeCut, sleep, type World } from '../world.js';
import type { Bank } from './bank.js';
import { paymentMessage, type Payment } from './paying-model.js';

/** Fewer requests in all than a list shows. */
const MESSAGES_PER_SESSION = 5;
const MOST_AT_ONCE = 3;

/** What a wallet claims. */
export interface Claim {
  readonly status: 'success' | 'failed';
  /** The hash of a transaction; null: none is reported. */
  readonly hash: string | null;
  readonly error: string | null;
  readonly manner: Manner;
}

type Manner =
  | 'honest'
  | 'shares' // reports the transfer of the request that comes first in the same report
  | 'denies' // sends it, and reports a failure with its hash
  | 'rejects'
  | 'invents' // reports the hash of nothing
  | 'mute' // reports success without a hash
  | 'borrows' // reports the transfer of somebody else
  | 'replays' // reports its own earlier transfer
  | 'cheats' // sends something else
  | 'fickle' // invents, and reports the truth afterwards
  | 'silent';

/** The outcome of a request as its wallet reported it first. */
export interface Reported {
  readonly claim: Claim;
  /** When a report was acknowledged first. */
  readonly ackedAt: number;
}

/** A session of a person who pays, as this person knows it. */
export class PayingSession {
  /** What was asked for, by label. */
  readonly payments = new Map<string, Payment & { readonly askedAt: number }>();
  /** The requests that were seen waiting for the wallet, by id. */
  readonly seen = new Map<number, string>();
  readonly reported = new Map<number, Reported>();
  /** Requests that the wallet never answers. */
  readonly silent = new Set<number>();
  messages = 0;

  constructor(
    /** `w1s2` */
    readonly name: string,
    readonly id: string,
    readonly wallet: string,
  ) {}
}

const Pending = z.object({ to: z.string(), value: z.string(), label: z.string(), from: z.string() });
/** A snapshot of `GET /api/state`, as far as a wallet reads it. */
export const WalletSnapshot = z.object({
  is_processing: z.boolean(),
  user_state: z.object({ pending_txs: z.record(z.string(), Pending).optional() }).nullable(),
});
type WalletSnapshot = z.infer<typeof WalletSnapshot>;

/** A person whose assistant asks their wallet to sign. The wallet approves, rejects, lies, or says nothing. */
export class Payer {
  readonly sessions: PayingSession[] = [];
  readonly #random: Random;
  readonly #wallet: string;
  #current: PayingSession;

  constructor(
    private readonly world: World,
    private readonly bank: Bank,
    readonly index: number,
  ) {
    this.#random = new Random(world.seed, 'payer', index);
    this.#wallet = bank.accounts[index] ?? '';
    this.#current = this.#begin();
  }

  /** Pays until the world is ending; resolves when every outcome is reported. */
  async run(): Promise<void> {
    while (!this.world.isEnding) {
      if (this.#current.messages >= MESSAGES_PER_SESSION) this.#current = this.#begin();
      await this.#pay(this.#current);
      await sleep(this.#random.between(50, 500));
    }
  }

  #begin(): PayingSession {
    const name = `w${String(this.index)}s${String(this.sessions.length + 1)}`;
    const session = new PayingSession(name, new Random(this.world.seed, 'id', name).uuid(), this.#wallet);
    this.sessions.push(session);
    return session;
  }

  async #pay(session: PayingSession): Promise<void> {
    const random = this.#random;
    session.messages++;
    const marker = `${session.name}n${String(session.messages)}`;
    const [first = '', second = ''] = this.bank.accounts.slice(-2);
    const payments = Array.from({ length: random.integer(1, MOST_AT_ONCE) }, (_, index) => ({
      label: `${marker}p${String(index)}`,
      to: random.pick([first, second]),
      value: String(random.integer(1, 3) * 1_000),
    }));
    for (const payment of payments) session.payments.set(payment.label, { ...payment, askedAt: Date.now() });
    this.world.figures.count('payments', payments.length);
    const body = { message: paymentMessage(marker, payments), public_key: session.wallet };
    await this.#until(`payment ${marker}`, session, {
      path: '/api/chat',
      body,
      headers: { 'Idempotency-Key': `key-${marker}` },
    });
    const pending = await this.#whenIdle(session);
    await this.#sign(session, pending);
    // At times the next message comes while the outcomes are verified.
    if (random.chance(0.6)) await this.#whenIdle(session);
  }

  /** Resolves with the new requests that wait for the wallet, once nothing is processed. */
  async #whenIdle(session: PayingSession): Promise<readonly (readonly [number, Payment])[]> {
    for (;;) {
      const snapshot = await readWallet(this.world, session, this.#random);
      if (snapshot?.is_processing === false) return this.#fresh(session, snapshot);
      await sleep(this.#random.between(100, 400));
    }
  }

  #fresh(session: PayingSession, { user_state: state }: WalletSnapshot): (readonly [number, Payment])[] {
    const fresh: (readonly [number, Payment])[] = [];
    for (const [key, entry] of Object.entries(state?.pending_txs ?? {})) {
      const id = Number(key);
      if (session.seen.has(id)) continue;
      const asked = session.payments.get(entry.label);
      const isRight = entry.to === asked?.to && entry.value === asked.value && entry.from === session.wallet;
      if (asked === undefined || !isRight) {
        const shown = `request ${key} is ${JSON.stringify(entry)}, not ${JSON.stringify(asked)}`;
        this.world.figures.fault('snapshot', `${session.name} (${session.id}): ${shown}`);
        continue;
      }
      session.seen.set(id, entry.label);
      this.world.figures.count('walletRequests');
      fresh.push([id, asked]);
    }
    return fresh;
  }

  async #sign(session: PayingSession, pending: readonly (readonly [number, Payment])[]): Promise<void> {
    const random = this.#random;
    const [first] = pending;
    if (first !== undefined && pending.length > 1 && random.chance(0.2)) {
      // One transaction for all of them.
      const claim = await this.#claim(session, first[1], 'honest');
      await this.#report(session, pending.map(([id]) => id), claim); // prettier-ignore
      return;
    }
    const reports = pending.map(async ([id, payment]) => {
      const manner = random.weigh<Manner>(
        [
          ...([['honest', 40], ['denies', 5], ['rejects', 12], ['invents', 8], ['mute', 5]] as const), // prettier-ignore
          ...([['borrows', 8], ['replays', 8], ['cheats', 8], ['fickle', 8], ['silent', 6]] as const), // prettier-ignore
        ],
        'honest',
      );
      if (manner === 'silent') {
        session.silent.add(id);
        await this.#meddle(session, id);
        return;
      }
      await this.#report(session, [id], await this.#claim(session, payment, manner));
      if (manner === 'fickle')
        await this.#report(session, [id], await this.#claim(session, payment, 'honest'));
    });
    await Promise.all(reports);
  }

  /** Does what the wallet does, and returns what it claims. */
  async #claim(session: PayingSession, { to, value }: Payment, manner: Manner): Promise<Claim> {
    const { bank } = this;
    const transfer = { from: session.wallet, to, value: BigInt(value) };
    const success = (hash: string | null): Claim => ({ status: 'success', hash, error: null, manner });
    const invented = (): string => `0x${this.#random.uuid().replaceAll('-', '').repeat(2)}`;
    switch (manner) {
      case 'honest':
        return success(await bank.send(transfer));
      case 'denies':
        return { ...success(await bank.send(transfer)), status: 'failed', error: 'The network is busy' };
      case 'rejects':
        return {
          status: 'failed',
          hash: null,
          error: 'User rejected: confirmed. Transaction 0x1 in block 1.',
          manner,
        };
      case 'mute':
        return success(null);
      case 'borrows':
        return success(bank.sent.findLast(({ from }) => from !== session.wallet)?.hash ?? invented());
      case 'replays':
        return success(bank.sent.findLast(({ from }) => from === session.wallet)?.hash ?? invented());
      case 'cheats':
        return success(await bank.send({ ...transfer, value: transfer.value + 1n }));
      case 'invents':
      case 'fickle':
      case 'shares':
      case 'silent':
        return success(invented());
    }
  }

  /** Reports an outcome, at times more than once and at several nodes, until each report is acknowledged. */
  async #report(session: PayingSession, ids: readonly number[], claim: Claim): Promise<void> {
    const { world } = this;
    const random = this.#random;
    const { status, hash, error } = claim;
    if (claim.manner !== 'honest') world.figures.count('walletLies');
    // Spelled as clients in the field do.
    const given = random.chance(0.5) ? ids : ids.map(String);
    const payload = { status, pending_tx_ids: given, ...(hash !== null && { txHash: hash }), ...(error !== null && { error }) }; // prettier-ignore
    const message = JSON.stringify({ type: 'wallet:tx_complete', payload });
    const copies = random.weigh([['1', 60], ['2', 25], ['3', 15]], '1'); // prettier-ignore
    const sent = Array.from({ length: Number(copies) }, () =>
      this.#until(`report of ${ids.join(' ')} by ${session.name}`, session, {
        path: '/api/system',
        body: { message },
      }),
    );
    world.figures.count('walletReports', sent.length);
    await Promise.race(sent);
    const ackedAt = Date.now();
    // The transfer was made for the first of them.
    const claimOf = (id: number): Claim => (id === ids[0] ? claim : { ...claim, manner: 'shares' });
    for (const id of ids)
      if (!session.reported.has(id)) session.reported.set(id, { claim: claimOf(id), ackedAt });
    await this.#expectTaken(session, ids);
    await Promise.all(sent);
  }

  /** An acknowledged outcome is no longer waited for, whichever node is asked. */
  async #expectTaken(session: PayingSession, ids: readonly number[]): Promise<void> {
    const { world } = this;
    if (world.staleMs > 0) return;
    const snapshot = await readWallet(world, session, this.#random);
    const left = ids.filter((id) => snapshot?.user_state?.pending_txs?.[String(id)] !== undefined);
    if (left.length === 0) return;
    world.figures.fault('outcomeLost', `${session.name} (${session.id}): ${left.join(' ')} still pending`);
  }

  /** Reports that must change nothing: of unknown ids, and of this id in another session. */
  async #meddle(session: PayingSession, id: number): Promise<void> {
    const message = (of: number): string =>
      JSON.stringify({ type: 'wallet:tx_complete', payload: { status: 'failed', pending_tx_ids: [of] } });
    const stranger = { id: this.#random.uuid() };
    await this.#until(`report of nothing by ${session.name}`, session, { path: '/api/system', body: { message: message(id + 1_000) } }); // prettier-ignore
    await this.#until(`report by a stranger to ${session.name}`, stranger, { path: '/api/system', body: { message: message(id) } }); // prettier-ignore
  }

  /** Sends a request until it is acknowledged. */
  async #until(
    what: string,
    session: Pick<PayingSession, 'id'>,
    { path, body, headers = {} }: { path: string; body: object; headers?: Record<string, string> },
  ): Promise<void> {
    const { world } = this;
    for (;;) {
      const door = world.door(this.#random);
      const askedAt = Date.now();
      const request: Ask = {
        method: 'POST',
        url: door.base + path,
        headers: { 'X-Session-Id': session.id, 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      };
      try {
        const answer = await ask(request);
        const judgement = judge(world, `${what} (${session.id})`, answer, { door, askedAt, expected: [200] });
        if (judgement === 'expected' || judgement === 'wrong') return;
      } catch (error) {
        if (error instanceof Hung) world.figures.fault('hung', `${what}: ${error.message}`);
        else if (error instanceof Cut) judgeCut(world, what, door, error);
        else throw error;
        await world.whenUp();
      }
      await sleep(this.#random.between(50, 300));
    }
  }
}

/** Reads the state of a session as its wallet sees it. Undefined: no response. */
export async function readWallet(
  world: World,
  session: Pick<PayingSession, 'id' | 'name'>,
  random: Random,
): Promise<WalletSnapshot | undefined> {
  const door = world.door(random);
  const askedAt = Date.now();
  const what = `state of ${session.name} (${session.id})`;
  try {
    const headers = { 'X-Session-Id': session.id };
    const answer = await ask({ method: 'GET', url: `${door.base}/api/state`, headers });
    if (judge(world, what, answer, { door, askedAt, expected: [200] }) !== 'expected') return undefined;
    const snapshot = read(WalletSnapshot, answer.body);
    if (snapshot === undefined) world.figures.fault('unexpected', `${what}: ${answer.body.slice(0, 300)}`);
    return snapshot;
  } catch (error) {
    if (error instanceof Hung) world.figures.fault('hung', error.message);
    else if (error instanceof Cut) judgeCut(world, what, door, error);
    else throw error;
    await world.whenUp();
    return undefined;
  }
}
