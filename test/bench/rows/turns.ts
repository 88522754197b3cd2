import { rmSync } from 'node:fs';
import { chatAndPoll, Conversations, streamTurns } from '../load/turns.js';
import type { Work } from '../load/measure.js';
import { compare, type Context, type Outcome, type Row } from '../row.js';
import { makeFolder, startProduct, startProgram } from '../servers.js';

const TOKENS = 50;
/** Of an answer where tokens are counted. A load ends with the answers that are under way. */
const LONG_TOKENS = 500;
const QUICK_LONG_TOKENS = 100;

async function againstReference(
  context: Context,
  row: Pick<Outcome, 'row' | 'unit' | 'required' | 'aim'>,
  work: () => Work,
): Promise<Outcome> {
  const folder = makeFolder();
  const reference = await startProgram('reference', [`${folder}/reference.db`, context.upstreamUrl]);
  const product = await startProduct({ upstream: context.upstreamUrl });
  const sides = { product: { target: product, work: work() }, against: { target: reference, work: work() } };
  const figures = await compare(context, { ...sides, workers: 64 });
  await Promise.all([reference.end(), product.end()]);
  rmSync(folder, { recursive: true, force: true });
  return { ...row, ...figures, got: figures.product / figures.against, better: 'more' };
}

async function streamed(context: Context): Promise<readonly Outcome[]> {
  const unit = 'turns/CPU-s';
  const long = { row: 'streamed durable turn (50 tokens), 64 at once ÷ R', unit, required: 0.75, aim: 0.85 };
  const single = { row: 'the same, each turn in a new thread, which gets a title', unit };
  const ofThread = (turnsOfOne?: number) => () =>
    streamTurns({ tokens: TOKENS, threads: new Conversations(turnsOfOne), counts: 'turns' });
  const outcomes = [await againstReference(context, long, ofThread())];
  if (!context.pace.isQuick) outcomes.push(await againstReference(context, single, ofThread(1)));
  return outcomes;
}

async function polled(context: Context): Promise<readonly Outcome[]> {
  const row = {
    row: 'chat and poll until done, 64 at once ÷ R',
    unit: 'turns/CPU-s',
    required: 0.7,
    aim: 0.8,
  };
  return [await againstReference(context, row, () => chatAndPoll(TOKENS))];
}

async function relayed(context: Context): Promise<readonly Outcome[]> {
  const proxy = await startProgram('raw-proxy', [context.upstreamUrl]);
  const product = await startProduct({ upstream: context.upstreamUrl });
  const tokens = context.pace.isQuick ? QUICK_LONG_TOKENS : LONG_TOKENS;
  const work = () => streamTurns({ tokens, counts: 'tokens' });
  const sides = { product: { target: product, work: work() }, against: { target: proxy, work: work() } };
  const figures = await compare(context, { ...sides, workers: 256 });
  await Promise.all([proxy.end(), product.end()]);
  const row = 'tokens, 256 legacy streams ÷ parse-and-re-frame proxy';
  const bounds = { required: 0.7, aim: 0.85, better: 'more' } as const;
  return [{ row, unit: 'tokens/CPU-s', ...figures, got: figures.product / figures.against, ...bounds }];
}

export const turnRows: readonly Row[] = [
  { id: 'turns', run: streamed },
  { id: 'poll', run: polled },
  { id: 'tokens', run: relayed },
];
