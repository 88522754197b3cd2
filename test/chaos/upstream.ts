import { z } from 'zod';
import {
  endChunk,
  startUpstream,
  textChunk,
  toolChunk,
  type Reply,
  type UpstreamRequest,
} from '../support/upstream.js';
import type { Figures } from './figures.js';
import { beHostile, garbageOf, HOSTILITIES, type Hostility } from './hostile-response.js';
import { Random } from './random.js';
import { markerIn, sessionOf, type PlannedStep, type Script } from './script.js';
import type { PayingModel } from './wallets/paying-model.js';
import { sleep } from './world.js';

/** A model provider that says what the script says, unless one of its faults comes between. */
export interface ScriptedUpstream {
  readonly url: string;
  /** Where the tool `book_entry` asks. */
  readonly bookUrl: string;
  /** When an answer for this session (`c3s2`) was last asked for; 0: never. */
  lastAsked(session: string): number;
  /** True while an answer for this session is being given to somebody. */
  isAnswering(session: string): boolean;
  /**
   * What it did to the requests for a message, or for the session of a person who pays, that may fail a turn: `500`,
   * `drop` …
   */
  troublesOf(marker: string): readonly string[];
  /** The session was deleted: its messages may be sent again, and then its tools are called again. */
  forget(session: string): void;
  /** From now on it answers at once and without faults. */
  calmDown(): void;
  close(): Promise<void>;
}

const Call = z.object({ id: z.string() });
const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string() }),
  z.object({ role: z.literal('user'), content: z.string() }),
  z.object({
    role: z.literal('assistant'),
    content: z.string().nullish(),
    tool_calls: z.array(Call).nullish(),
  }),
  z.object({ role: z.literal('tool'), tool_call_id: z.string() }),
]);
type Message = z.infer<typeof Message>;
const Body = z.object({ messages: z.array(Message), tools: z.array(z.unknown()).optional() });

const Entry = z.object({ entry: z.string() });
const BOOK_PATH = '/book';

type Trouble = 'none' | 'drop' | '429' | '500' | 'slow' | 'late' | Hostility;

/**
 * @param options.isHostile whether it also sends what no good provider sends
 * @param options.paying the model of people who pay
 */
export async function startScriptedUpstream(
  script: Script,
  figures: Figures,
  { isHostile, paying }: { readonly isHostile: boolean; readonly paying: PayingModel },
): Promise<ScriptedUpstream> {
  const { seed } = script;
  const upstream = await startUpstream();
  const asked = new Map<string, number>();
  const times = new Map<string, number>();
  const answering = new Map<string, number>();
  const troubles = new Map<string, string[]>();
  const booked = new Set<string>();
  const forgotten = new Set<string>();
  let isCalm = false;

  /** The tool that must not be called twice: it notes each entry, and takes its time. */
  async function book(reply: Reply, body: unknown): Promise<void> {
    const { entry } = Entry.parse(body);
    figures.count('bookings');
    if (booked.has(entry) && !forgotten.has(sessionOf(entry))) figures.fault('toolRepeated', entry);
    booked.add(entry);
    await sleep(isCalm ? 0 : new Random(seed, 'book', entry).between(0, 400));
    reply.json(200, {});
  }

  /** False: the request is not about a payment. */
  async function answerPayer(reply: Reply, { body, closed }: UpstreamRequest): Promise<boolean> {
    const payment = paying.read(body);
    if (payment === undefined) return false;
    const { name, session, isTitle } = payment;
    const ordinal = times.get(name) ?? 0;
    times.set(name, ordinal + 1);
    const random = new Random(seed, 'upstream', name, ordinal);
    const trouble = isCalm ? 'none' : troubleOf(random, isHostile);
    if (!isTitle && !['none', 'slow', 'late'].includes(trouble))
      troubles.set(session, [...(troubles.get(session) ?? []), trouble]);
    await answer(reply, payment.plan(ordinal + 1), { trouble, random, isCalm, figures, gone: closed });
    return true;
  }

  upstream.always(async (reply, request) => {
    if (request.path === BOOK_PATH) {
      await book(reply, request.body);
      return;
    }
    figures.count('upstream');
    if (await answerPayer(reply, request)) return;
    const parsed = Body.safeParse(request.body);
    if (!parsed.success) {
      figures.fault('history', `unreadable request: ${parsed.error.message}`);
      reply.json(400, { error: { message: 'unreadable' } });
      return;
    }
    const { tools = [] } = parsed.data;
    const isTitle = tools.length === 0;
    const messages = isTitle ? parsed.data.messages : separated(parsed.data.messages);
    const last = messages.findLastIndex(({ role }) => role === 'user');
    const question = messages[last];
    const marker = question?.role === 'user' ? markerIn(question.content) : undefined;
    if (marker === undefined) {
      figures.fault('history', `no question in ${JSON.stringify(messages).slice(-500)}`);
      reply.json(400, { error: { message: 'no question' } });
      return;
    }
    const after = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length;
    const name = isTitle ? `title ${marker}` : `${marker} ${String(after)}`;
    const ordinal = times.get(name) ?? 0;
    times.set(name, ordinal + 1);
    if (!isTitle) {
      asked.set(sessionOf(marker), Date.now());
      checkHistory(messages, marker, { figures, script });
    }
    const random = new Random(seed, 'upstream', name, ordinal);
    const isDoomed = new Random(seed, 'doomed', marker).chance(0.03);
    const trouble = isCalm ? 'none' : isDoomed && !isTitle ? '500' : troubleOf(random, isHostile);
    if (!isTitle && !['none', 'slow', 'late'].includes(trouble)) {
      troubles.set(marker, [...(troubles.get(marker) ?? []), trouble]);
    }
    const step = isTitle ? titleStep(marker) : script.step(marker, after, ordinal + 1);
    if (step === undefined) {
      figures.fault('history', `${marker} was asked for step ${String(after)}, which there is not`);
      reply.json(400, { error: { message: 'no such step' } });
      return;
    }
    if (step.calls.length > 0) figures.count('upstreamCalls');
    const session = sessionOf(marker);
    const count = (by: number): void => void answering.set(session, (answering.get(session) ?? 0) + by);
    if (!isTitle) count(1);
    await answer(reply, step, { trouble, random, isCalm, figures, gone: request.closed });
    if (!isTitle) count(-1);
  });

  return {
    url: `${upstream.url}/v1`,
    bookUrl: upstream.url + BOOK_PATH,
    forget: (session) => void forgotten.add(session),
    troublesOf: (marker) => troubles.get(marker) ?? [],
    isAnswering: (session) => (answering.get(session) ?? 0) > 0,
    lastAsked: (session) => asked.get(session) ?? 0,
    calmDown() {
      isCalm = true;
    },
    close: () => upstream.close(),
  };
}

interface Manner {
  readonly trouble: Trouble;
  readonly random: Random;
  readonly isCalm: boolean;
  readonly figures: Figures;
  readonly gone: Promise<unknown>;
}

async function answer(reply: Reply, step: PlannedStep, manner: Manner): Promise<void> {
  const { trouble, random, isCalm, figures, gone } = manner;
  const client = { isGone: false };
  void gone.then(() => (client.isGone = true));
  const pause = async (milliseconds: number): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([gone, new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)))]);
    clearTimeout(timer);
  };
  if (trouble === '429' || trouble === '500') {
    figures.count(trouble === '429' ? 'upstream429' : 'upstream500');
    const headers = random.chance(0.5) ? { 'retry-after': random.pick(['0', '1']) } : {};
    reply.json(Number(trouble), { error: { message: 'scripted', type: 'server_error' } }, headers);
    return;
  }
  const hostility = isHostility(trouble) ? trouble : undefined;
  if (hostility !== undefined) figures.count('upstreamHostile');
  const isGone = (): boolean => client.isGone;
  if (hostility === 'html') {
    await beHostile(reply, hostility, { isOpen: false, pause, isGone });
    return;
  }
  if (trouble === 'late') await pause(random.between(500, 2500));
  if (trouble === 'slow') figures.count('upstreamSlow');
  const [least, most] = isCalm ? [0, 1] : trouble === 'slow' ? [40, 110] : random.pick([[0, 2], [5, 20], [15, 50]]); // prettier-ignore
  const chunks = [...step.pieces.map(textChunk), ...callChunks(step)];
  const dropAt = trouble === 'drop' || hostility !== undefined ? random.integer(0, chunks.length) : Infinity;
  reply.open();
  for (const [index, chunk] of chunks.entries()) {
    if (client.isGone) return;
    if (index === dropAt && hostility === 'garbage') reply.event(garbageOf(random));
    else if (index === dropAt) break;
    reply.event(chunk);
    const wait = random.between(least, most);
    if (wait >= 1) await pause(wait);
  }
  if (hostility !== undefined && hostility !== 'garbage') {
    await beHostile(reply, hostility, { isOpen: true, pause, isGone });
    return;
  }
  if (trouble === 'drop') {
    figures.count('upstreamDrop');
    // What was written before must leave first, or nothing of it would be seen.
    await pause(10);
    reply.drop();
    return;
  }
  reply.event(endChunk(step.calls.length > 0 ? 'tool_calls' : 'stop'));
  reply.event('[DONE]');
}

/** Arguments come in two parts, those of parallel calls one after the other. */
function callChunks({ calls }: PlannedStep): object[] {
  return calls.flatMap(({ id, name, sent: text }, index) => {
    const cut = Math.floor(text.length / 2);
    return [
      toolChunk(index, { id, name, arguments: text.slice(0, cut) }),
      toolChunk(index, { arguments: text.slice(cut) }),
    ];
  });
}

function titleStep(marker: string): PlannedStep {
  const text = `About ${sessionOf(marker)}`;
  return { pieces: [text], text, calls: [] };
}

function troubleOf(random: Random, isHostile: boolean): Trouble {
  if (isHostile && random.chance(0.05)) return random.weigh(HOSTILITIES, 'garbage');
  return random.weigh([['none', 70], ['drop', 8], ['429', 5], ['500', 5], ['slow', 8], ['late', 4]], 'none'); // prettier-ignore
}

function isHostility(trouble: Trouble): trouble is Hostility {
  return HOSTILITIES.some(([kind]) => kind === trouble);
}

/** What the rig puts behind the results of a turn that had no reply. */
const NO_REPLY = '(This turn ended without a reply.)';

/** Undoes what the rig does so that roles alternate: it joins questions that had no reply, and adds `NO_REPLY`. */
function separated(messages: readonly Message[]): readonly Message[] {
  return messages.flatMap((message): readonly Message[] => {
    if (message.role === 'assistant' && message.content === NO_REPLY) return [];
    if (message.role !== 'user') return [message];
    return message.content.split('\n\n').map((content) => ({ ...message, content }));
  });
}

/**
 * Every call has its result right behind it, every question is there once, all of one session, and each answer is of
 * one attempt.
 */
function checkHistory(
  messages: readonly Message[],
  marker: string,
  { figures, script }: { figures: Figures; script: Script },
): void {
  const wanted = new Set<string>();
  const wrong = (what: string): void => {
    figures.fault('history', `${marker}: ${what}`);
  };
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!wanted.delete(message.tool_call_id)) wrong(`a result without its call: ${message.tool_call_id}`);
      continue;
    }
    if (wanted.size > 0) wrong(`calls without results: ${[...wanted].join(' ')}`);
    wanted.clear();
    if (message.role === 'assistant') {
      const { mixed, wrong: other } = script.read(message.content ?? '');
      for (const what of mixed) figures.fault('mixed', `${marker}: the history sent to the model: ${what}`);
      for (const what of other) wrong(what);
    }
    if (message.role === 'assistant') for (const { id } of message.tool_calls ?? []) wanted.add(id);
    if (message.role !== 'user') continue;
    const found = markerIn(message.content) ?? '';
    if (sessionOf(found) !== sessionOf(marker)) wrong(`a question of another session: ${found}`);
  }
  if (wanted.size > 0) wrong(`calls without results at the end: ${[...wanted].join(' ')}`);
  const questions = messages.flatMap((message) => (message.role === 'user' ? [message.content] : []));
  if (new Set(questions).size !== questions.length) wrong('a question is there twice');
}
