import { z } from 'zod';
import { Random } from '../random.js';
import { read, type StoredRecord } from '../shapes.js';
import { readRecords } from '../verify.js';
import { ask } from '../wire.js';
import type { World } from '../world.js';
import type { Bank, SentTransfer } from './bank.js';
import { readWallet, type PayingSession, type Reported } from './payer.js';
import type { PayingModel } from './paying-model.js';

const InlineCalls = z.array(
  z.object({
    InlineCall: z.object({ type: z.string(), payload: z.object({ tx_ids: z.array(z.number()) }) }).optional(),
  }),
);
const Listed = z.object({
  result: z.object({ requests: z.array(z.object({ id: z.number(), label: z.string(), state: z.string() })) }),
});

const CLAIM = 'The wallet reported ';
const NAMED = /\b(\d+) \((w\d+s\d+n\d+p\d+)\)/g;
const VERDICT =
  /^Wallet request (\d+) \((\w+)\): (confirmed|failed on chain|differs from what was staged|reported, not found yet)\.(?: Transaction (0x[0-9a-f]{64}))?(.*)/gm;
/** With fewer honest outcomes, it may be chance that none was confirmed. */
const MANY = 8;

interface Verdict {
  readonly id: number;
  readonly label: string;
  readonly words: string;
  readonly hash: string | undefined;
  /** Why, as the record says it. */
  readonly detail: string;
}

/** A transaction that was called confirmed, with the requests that it confirmed. */
type Confirmations = Map<string, Set<string>>;

/** Compares sessions that nobody works on any more with what their wallets did. */
export async function judgePayments(
  world: World,
  sessions: readonly PayingSession[],
  { bank, model }: { readonly bank: Bank; readonly model: PayingModel },
): Promise<void> {
  const { figures } = world;
  const confirmations: Confirmations = new Map();
  const judged = [];
  for (const session of sessions) judged.push(await readSession(world, session));
  for (const { session, verdicts } of judged) {
    const told = model.toldIn(session.name).flatMap(verdictsIn);
    for (const verdict of [...told, ...verdicts])
      judgeTruth(world, session, verdict, { bank, confirmations });
    for (const [id, reported] of session.reported)
      judgeHonesty(world, session, { id, reported, verdicts, confirmations });
    // The assistant is given no outcome that the records do not have.
    const stored = new Set(verdicts.map(({ id, words }) => `${String(id)} ${words}`));
    for (const { id, words } of told) {
      const known = `${String(id)} ${words}`;
      if (!stored.has(known)) figures.fault('walletLie', `${session.name}: the model was told of ${known}`);
    }
  }
  for (const [hash, requests] of confirmations) {
    if (requests.size > 1) figures.fault('walletLie', `${hash} confirmed ${[...requests].join(' and ')}`);
  }
  const honest = sessions.flatMap(({ reported }) => [...reported.values()].filter(({ claim }) => claim.manner === 'honest')); // prettier-ignore
  if (honest.length >= MANY && confirmations.size === 0)
    figures.fault('outcomeWrong', `none of ${String(honest.length)} honest outcomes was confirmed`);
}

async function readSession(
  world: World,
  session: PayingSession,
): Promise<{ readonly session: PayingSession; readonly verdicts: readonly Verdict[] }> {
  const { figures } = world;
  const random = new Random(world.seed, 'judge', session.id);
  const where = `${session.name} (${session.id})`;
  const records = await readRecords(world, session.id, random);
  const snapshot = await readWallet(world, session, random);
  if (snapshot?.is_processing !== false) figures.fault('neverEnded', `${where} is processing at the end`);
  await judgeRequests(world, session, { where, random });
  const turns = turnsOf(records);
  for (const turn of turns) judgeTurn(world, session, turn, where);
  const claims = turns.flatMap(([first]) => (first !== undefined && isClaim(first) ? [first.content] : []));
  for (const [id, label] of session.seen) {
    const own = claims.filter((words) => namesIn(words).some(([named]) => named === id));
    const reported = session.reported.get(id);
    const about = `${where}: request ${String(id)} (${label})`;
    if (own.length > 1) figures.fault('outcomeTwice', `${about}: ${JSON.stringify(own)}`);
    if (reported === undefined) {
      const isPending = snapshot?.user_state?.pending_txs?.[String(id)] !== undefined;
      if (own.length > 0 || !isPending)
        figures.fault('outcomeWrong', `${about}: it has an outcome that nobody reported`);
      continue;
    }
    const [claim] = own;
    if (claim === undefined) figures.fault('outcomeLost', `${about}: ${JSON.stringify(reported)}`);
    else if (!claim.includes(wordsOf(reported)))
      figures.fault('outcomeWrong', `${about}: ${claim} instead of ${JSON.stringify(reported)}`);
  }
  const verdicts = records.flatMap(({ role, content }) => (role === 'system' ? verdictsIn(content) : []));
  const ids = verdicts.map(({ id }) => id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (twice.length > 0) figures.fault('outcomeTwice', `${where}: verdicts on ${twice.join(' ')}`);
  return { session, verdicts };
}

/** Each payment was staged at most once, and each request asked for once. */
async function judgeRequests(
  world: World,
  session: PayingSession,
  { where, random }: { readonly where: string; readonly random: Random },
): Promise<void> {
  const { figures } = world;
  const headers = { 'X-Session-Id': session.id };
  const events = await ask({
    method: 'GET',
    url: `${world.door(random).base}/api/events?count=1000`,
    headers,
  });
  const calls = read(InlineCalls, events.body)?.flatMap(({ InlineCall: made }) => made?.payload.tx_ids ?? []);
  const listing = await ask({
    method: 'POST',
    url: `${world.door(random).base}/api/tools`,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'list_wallet_requests', args: {} }),
  });
  const listed = read(Listed, listing.body)?.result.requests;
  if (calls === undefined || listed === undefined) {
    figures.fault('unexpected', `${where}: ${events.body.slice(0, 200)} ${listing.body.slice(0, 200)}`);
    return;
  }
  for (const id of new Set([...calls, ...session.seen.keys()])) {
    const times = calls.filter((one) => one === id).length;
    if (times !== 1)
      figures.fault('walletTwice', `${where}: ${String(id)} was asked for ${String(times)} times`);
  }
  const labels = listed.map(({ label }) => label);
  for (const label of new Set(labels)) {
    const times = labels.filter((one) => one === label).length;
    if (times !== 1) figures.fault('walletTwice', `${where}: ${label} was staged ${String(times)} times`);
  }
  for (const [id, label] of session.seen) {
    if (!listed.some((request) => request.id === id && request.label === label))
      figures.fault(
        'outcomeLost',
        `${where}: request ${String(id)} (${label}) is gone: ${listing.body.slice(0, 300)}`,
      );
  }
}

/** Splits records where a message or a report begins a turn. */
function turnsOf(records: readonly StoredRecord[]): readonly (readonly StoredRecord[])[] {
  const turns: StoredRecord[][] = [];
  for (const record of records) {
    if (record.role === 'user' || isClaim(record)) turns.push([record]);
    else turns.at(-1)?.push(record);
  }
  return turns;
}

/** A turn of a report has its verdicts and one response, or says why it has none. */
function judgeTurn(world: World, session: PayingSession, turn: readonly StoredRecord[], where: string): void {
  const [first, ...rest] = turn;
  if (first === undefined || !isClaim(first)) return;
  const { figures } = world;
  const about = `${where}: ${first.content.slice(0, 200)}`;
  const answers = rest.filter(({ role }) => role === 'assistant');
  const faults = rest.filter(({ role, content }) => role === 'system' && verdictsIn(content).length === 0);
  if (answers.length > 1) figures.fault('outcomeTwice', `${about}: ${String(answers.length)} responses`);
  const isWhole = answers.length === 1 && answers[0]?.content === 'I have taken note.';
  if (isWhole && faults.length === 0) {
    const named = namesIn(first.content).map(([id]) => id);
    const judged = rest.flatMap(({ content }) => verdictsIn(content)).map(({ id }) => id);
    const isRejection = first.content.includes(' as rejected: ');
    if (!isRejection && String([...judged].sort()) !== String([...named].sort()))
      figures.fault('outcomeLost', `${about}: verdicts on ${judged.join(' ')}`);
    figures.count('walletTurns');
    return;
  }
  const isExcused =
    faults.some(({ content }) => content.startsWith('The service stopped')) ||
    (faults.length > 0 && world.upstream.troublesOf(session.name).length > 0) ||
    (faults.length > 0 && figures.of('floods') > 0);
  if (!isExcused) figures.fault('outcomeLost', `${about}: followed by ${JSON.stringify(rest).slice(0, 400)}`);
}

/** What is called confirmed is on the chain, as it was asked for, after it was asked for. */
function judgeTruth(
  world: World,
  session: PayingSession,
  { id, label, words, hash = '' }: Verdict,
  { bank, confirmations }: { readonly bank: Bank; readonly confirmations: Confirmations },
): void {
  if (words !== 'confirmed') return;
  const sent = bank.sent.find((transfer) => transfer.hash === hash);
  const asked = session.payments.get(label);
  const isTrue =
    sent !== undefined && asked !== undefined && isAsAsked(sent, { ...asked, from: session.wallet });
  if (!isTrue)
    world.figures.fault(
      'walletLie',
      `${session.name} (${session.id}): ${String(id)} (${label}) by ${hash}: ${String(sent?.value)}`,
    );
  confirmations.set(hash, (confirmations.get(hash) ?? new Set()).add(`${session.name} ${String(id)}`));
}

function isAsAsked(
  sent: SentTransfer,
  asked: { readonly from: string; readonly to: string; readonly value: string; readonly askedAt: number },
): boolean {
  return (
    sent.from === asked.from &&
    sent.to === asked.to &&
    String(sent.value) === asked.value &&
    sent.sentAt >= asked.askedAt
  );
}

/** What was sent as asked is confirmed, or not found while the chain was away. */
function judgeHonesty(
  world: World,
  session: PayingSession,
  {
    id,
    reported: { claim },
    verdicts,
    confirmations,
  }: {
    readonly id: number;
    readonly reported: Reported;
    readonly verdicts: readonly Verdict[];
    readonly confirmations: Confirmations;
  },
): void {
  const { figures } = world;
  const verdict = verdicts.find((one) => one.id === id);
  if (verdict === undefined) return;
  const about = `${session.name} (${session.id}): ${String(id)} (${verdict.label}), ${JSON.stringify(claim)}: ${verdict.words}${verdict.detail}`;
  if (verdict.hash !== undefined && verdict.hash !== claim.hash) figures.fault('outcomeWrong', about);
  if (verdict.words === 'confirmed') figures.count('walletConfirmed');
  else if (verdict.words === 'reported, not found yet') figures.count('walletNotFound');
  else if (verdict.words === 'differs from what was staged') figures.count('walletDiffers');
  if (claim.manner !== 'honest' && claim.manner !== 'denies') return;
  // One transaction confirms one request alone, and another wallet may have reported it first.
  const isElsewhere = (confirmations.get(claim.hash ?? '')?.size ?? 0) > 0;
  const isRight = verdict.words === 'confirmed' || verdict.words === 'reported, not found yet';
  if (!isRight && !isElsewhere) figures.fault('outcomeWrong', about);
}

function isClaim({ role, content }: StoredRecord): boolean {
  return role === 'system' && content.startsWith(CLAIM);
}

/** The requests that a claim names, before the wallet's own words. */
function namesIn(claim: string): readonly (readonly [number, string])[] {
  const [own = ''] = claim.split(" The wallet's words: ");
  return [...own.matchAll(NAMED)].map(([, id = '', label = '']) => [Number(id), label]);
}

function verdictsIn(content: string): readonly Verdict[] {
  return [...content.matchAll(VERDICT)].map(([, id = '', label = '', words = '', hash, detail = '']) => {
    return { id: Number(id), label, words, hash, detail };
  });
}

/** What the record of a claim has in it. */
function wordsOf({ claim: { status, hash } }: Reported): string {
  if (hash !== null) return hash;
  return status === 'failed' ? 'as rejected: nothing was signed' : 'success';
}
