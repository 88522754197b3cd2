import { z } from 'zod';
import { sessionOf, type PlannedCall, type PlannedStep } from '../script.js';
import { BANK_CHAIN } from './bank.js';

/** A payment that a person asks for. */
export interface Payment {
  /** `w1s2n3p0`: what the request is called. No other payment of the run has this name. */
  readonly label: string;
  /** An address in lower case. */
  readonly to: string;
  /** In wei. */
  readonly value: string;
}

/** One response of the model to a person who pays. */
export interface PayingStep {
  /** `w1s2`. */
  readonly session: string;
  /** The same for every attempt at the same response. */
  readonly name: string;
  readonly isTitle: boolean;
  plan(attempt: number): PlannedStep;
}

const Called = z.object({ id: z.string(), function: z.object({ name: z.string() }) });
const Message = z.object({
  role: z.string(),
  content: z.string().nullish(),
  tool_calls: z.array(Called).nullish(),
  tool_call_id: z.string().nullish(),
});
type Message = z.infer<typeof Message>;
const Body = z.object({ messages: z.array(Message), tools: z.array(z.unknown()).optional() });
const Payments = z.array(z.object({ label: z.string(), to: z.string(), value: z.string() }));
const Staged = z.object({ id: z.number(), simulation: z.object({ success: z.boolean() }) });

const REQUEST = 'Please pay ';
const MARKER = /\bw\d+s\d+n\d+\b/;
/** The tool whose results are the outcomes of wallet requests. */
const WALLET_REPORT = 'wallet_report';

/** Writes the message that asks for payments. */
export function paymentMessage(marker: string, payments: readonly Payment[]): string {
  return `${REQUEST}${marker}: ${JSON.stringify(payments)}`;
}

/**
 * The scripted model of people who pay: it stages what they ask for, requests what was staged, and records the
 * outcomes that it receives.
 */
export class PayingModel {
  readonly #told = new Map<string, Set<string>>();

  /** The outcomes that the model received in a session, each once. */
  toldIn(session: string): readonly string[] {
    return [...(this.#told.get(session) ?? [])];
  }

  /** Reads a request of the service. Undefined: it is not about a payment. */
  read(body: unknown): PayingStep | undefined {
    const parsed = Body.safeParse(body);
    if (!parsed.success) return undefined;
    const { messages, tools = [] } = parsed.data;
    const asked = messages.findLast(({ role }) => role === 'user')?.content ?? '';
    // The rig joins questions that had no reply.
    const question = asked.slice(asked.lastIndexOf(REQUEST));
    const marker = MARKER.exec(question)?.[0];
    if (marker === undefined) return undefined;
    const session = sessionOf(marker);
    if (tools.length === 0) {
      const plan = (): PlannedStep => says(`About ${session}`);
      return { session, name: `title ${marker}`, isTitle: true, plan };
    }
    const told = this.#told.get(session) ?? new Set<string>();
    this.#told.set(session, told);
    for (const words of resultsOf(messages, WALLET_REPORT)) told.add(words);
    const name = `${marker} ${String(messages.length)}`;
    return { session, name, isTitle: false, plan: (attempt) => next(messages, { name, question, attempt }) };
  }
}

function next(
  messages: readonly Message[],
  { name, question, attempt }: { readonly name: string; readonly question: string; readonly attempt: number },
): PlannedStep {
  const lastCalls = messages.findLastIndex(({ tool_calls: calls }) => (calls?.length ?? 0) > 0);
  const callId = (index: number): string =>
    `call_${name.replace(' ', '_')}_${String(index)}_try${String(attempt)}`;
  if (messages.at(-1)?.role === 'user') {
    const payments = Payments.parse(JSON.parse(question.slice(question.indexOf(': ') + 2)));
    const calls = payments.map(({ label, to, value }, index) =>
      call(callId(index), 'stage_transaction', { to, value: `${value} wei`, label, chain_id: BANK_CHAIN }),
    );
    return { pieces: [], text: '', calls };
  }
  const step = messages.slice(lastCalls);
  const made = step[0]?.tool_calls?.[0]?.function.name;
  if (made === WALLET_REPORT) return says('I have', ' taken note.');
  if (made !== 'stage_transaction') return says('Please', ' look into your wallet.');
  const ids = resultsOf(step, made).flatMap((result) => {
    const staged = readStaged(result);
    return staged?.simulation.success === true ? [staged.id] : [];
  });
  if (ids.length === 0) return says('Nothing', ' could be staged.');
  return { pieces: [], text: '', calls: [call(callId(0), 'request_transactions', { ids })] };
}

/** The results of all calls of a tool. */
function resultsOf(messages: readonly Message[], tool: string): readonly string[] {
  const ids = new Set(
    messages.flatMap(({ tool_calls: calls }) =>
      (calls ?? []).flatMap((made) => (made.function.name === tool ? [made.id] : [])),
    ),
  );
  return messages.flatMap(({ tool_call_id: id, content }) => (ids.has(id ?? '') ? [content ?? ''] : []));
}

function readStaged(result: string): z.infer<typeof Staged> | undefined {
  try {
    return Staged.safeParse(JSON.parse(result)).data;
  } catch {
    return undefined;
  }
}

function call(id: string, name: string, args: Readonly<Record<string, unknown>>): PlannedCall {
  return { id, name, args, sent: JSON.stringify(args), expected: 'any' };
}

function says(...pieces: readonly string[]): PlannedStep {
  return { pieces, text: pieces.join(''), calls: [] };
}
