import { Random } from './random.js';

/** A tool call that the scripted model makes. */
export interface PlannedCall {
  /** Differs from attempt to attempt, as a provider's ids do. */
  readonly id: string;
  readonly name: string;
  /** The arguments as the provider sends them: JSON, or what a hostile provider sends instead. */
  readonly sent: string;
  /** The arguments that the record must have; null: the sent text is no JSON object, so anything may stand there. */
  readonly args: Readonly<Record<string, unknown>> | null;
  /** `value`: the tool must return it; `works`: it must not fail; `fails`: it must fail; `any`: both are right. */
  readonly expected: { readonly value: string } | 'works' | 'fails' | 'any';
}

/** One response of the model: text, then perhaps calls. */
export interface PlannedStep {
  /** The text as the provider sends it, piece by piece. */
  readonly pieces: readonly string[];
  /** The text as the service must show it: well-formed. */
  readonly text: string;
  readonly calls: readonly PlannedCall[];
}

/** What the scripted model may do beside what a good one does. */
export interface ScriptOptions {
  /** Lone surrogates in texts, and arguments that are no JSON object. */
  readonly hostileProvider: boolean;
  /** Calls of contracts that return too much. */
  readonly hostileContracts: boolean;
}

/** A piece of text that one response of the model begins with its header. */
export interface Segment {
  readonly marker: string;
  readonly step: number;
  readonly attempt: number;
  readonly text: string;
}

/** What a text of the model says of itself. */
export interface Reading {
  readonly segments: readonly Segment[];
  /** Places where a text of one attempt goes on with the text of another. */
  readonly mixed: readonly string[];
  /** Places where it differs from the script in another way. */
  readonly wrong: readonly string[];
}

const WORDS = 'amber birch cedar delta ember fjord grove heron inlet juniper kelp lark möwe nest 橋 😀'.split(
  ' ',
);
/** Lone surrogates, as a provider may send that cuts its text between the halves of a pair. */
const LONE = ['\ud83d', '\udc00', 'x\ud800y'] as const;
const HEADER = /\[(c\d+s\d+n\d+) step (\d+) try (\d+)\]/g;
const SHOWN = 60;

/** The unique word in a text: `c3s2n5` is the fifth message of the second session of client 3. */
export function markerIn(text: string): string | undefined {
  return /\bc\d+s\d+n\d+\b/.exec(text)?.[0];
}

/** The session that a marker belongs to: `c3s2`. */
export function sessionOf(marker: string): string {
  return marker.slice(0, marker.indexOf('n'));
}

/**
 * Everything that the scripted model says. How many steps a message takes, and which tools each step calls, is a
 * function of the seed and the message's marker alone. The words, and the ids of calls, differ from attempt to attempt:
 * every word carries the number of its attempt, so that a text with words of two attempts shows itself.
 */
export class Script {
  constructor(
    readonly seed: string,
    private readonly options: ScriptOptions,
  ) {}

  /** How many responses a message takes. The last one has no calls. */
  steps(marker: string): number {
    const random = new Random(this.seed, 'steps', marker);
    return 1 + Number(random.weigh([['0', 5], ['1', 4], ['2', 1]], '0')); // prettier-ignore
  }

  /** @param attempt how often this step was asked for, from 1. Undefined: the message has no such step */
  step(marker: string, index: number, attempt: number): PlannedStep | undefined {
    const steps = this.steps(marker);
    if (index >= steps) return undefined;
    const random = new Random(this.seed, 'step', marker, index);
    const isLast = index === steps - 1;
    const [least, most] = isLast ? [2, random.chance(0.2) ? 120 : 40] : [1, 8];
    const hasText = isLast || random.chance(0.5);
    // A piece of over 8 KiB does not fit into one signal between nodes.
    const isLong = isLast && random.chance(0.02);
    const calls = isLast
      ? []
      : Array.from({ length: random.integer(1, 3) }, (_, at) =>
          this.#call(random, `${marker}_${String(index)}_${String(at)}`, attempt),
        );
    const words = new Random(this.seed, 'words', marker, index, attempt);
    const pieces = hasText ? this.#pieces(words, { marker, index, attempt, least, most, isLong }) : [];
    if (isLast) pieces.push(` end#${String(attempt)}.`);
    return { pieces, text: pieces.map((piece) => piece.toWellFormed()).join(''), calls };
  }

  /** Compares a text with the script, and says which attempts it is of. An empty text is right. */
  read(text: string): Reading {
    const starts = [...text.matchAll(HEADER)];
    const segments: Segment[] = [];
    const mixed: string[] = [];
    const wrong: string[] = [];
    const lead = text.slice(0, starts[0]?.index ?? text.length);
    if (lead !== '') wrong.push(`begins without a header: ${quote(lead)}`);
    for (const [at, match] of starts.entries()) {
      const [, marker = '', step = '', attempt = ''] = match;
      const own = text.slice(match.index, starts[at + 1]?.index);
      const segment = { marker, step: Number(step), attempt: Number(attempt), text: own };
      const before = segments.at(-1);
      segments.push(segment);
      const about = `${marker} step ${step} try ${attempt}`;
      if (before?.marker === marker && before.step >= segment.step) {
        mixed.push(`${about} follows step ${String(before.step)} try ${String(before.attempt)}`);
      } else if (before !== undefined && before.text !== this.#whole(before)) {
        wrong.push(`${about} follows an unfinished step: ${quote(before.text)}`);
      }
      if (before !== undefined && before.marker !== marker) wrong.push(`${about} follows ${before.marker}`);
      const strangers = strangersIn(segment);
      if (strangers !== undefined) mixed.push(`${about} holds ${strangers}`);
      else if (!this.#whole(segment).startsWith(own)) {
        wrong.push(`${about} differs from the script: ${firstDifference(own, this.#whole(segment))}`);
      }
    }
    return { segments, mixed, wrong };
  }

  /** Whether a segment is all of its step's text. */
  isWhole(segment: Segment): boolean {
    return segment.text === this.#whole(segment);
  }

  #whole({ marker, step, attempt }: Segment): string {
    return this.step(marker, step, attempt)?.text ?? '';
  }

  #pieces(
    random: Random,
    of: { marker: string; index: number; attempt: number; least: number; most: number; isLong: boolean },
  ): string[] {
    const tag = `#${String(of.attempt)}`;
    const word = (): string => ` ${WORDS[random.integer(0, 15)] ?? ''}${tag}`;
    const pieces = Array.from({ length: random.integer(of.least, of.most) }, word);
    if (of.isLong) pieces.push(Array.from({ length: random.integer(1_200, 2_500) }, word).join(''));
    if (this.options.hostileProvider && random.chance(0.15)) {
      pieces.splice(random.integer(0, pieces.length), 0, ` ${random.pick(LONE)}${tag}`);
    }
    return [`[${of.marker} step ${String(of.index)} try ${String(of.attempt)}]`, ...pieces];
  }

  #call(random: Random, entry: string, attempt: number): PlannedCall {
    const id = `call_${entry}_try${String(attempt)}`;
    const plain = (name: string, args: Record<string, unknown>, expected: PlannedCall['expected']) => ({
      ...{ id, name, args, expected },
      sent: JSON.stringify(args),
    });
    if (this.options.hostileProvider && random.chance(0.08)) {
      const sent = random.pick(['{"expression": "1+', '[1, 2]', '"1+1"', 'null', '{"expression": "1+1"}}']);
      return { id, name: 'calculate', sent, args: null, expected: 'fails' };
    }
    if (this.options.hostileContracts && random.chance(0.08)) {
      const contract = `0x${'0'.repeat(38)}0${random.integer(1, 9).toString(16)}`;
      const args = { contract, function: 'f() view returns (bytes[] a)' };
      return plain('call_view_function', args, 'any');
    }
    // The entry is the same in every attempt: the tool must book it once.
    if (random.chance(0.25)) return plain('book_entry', { entry }, { value: entry });
    if (random.chance(0.4)) {
      return plain('get_time', { timezone: random.pick(['UTC', 'Europe/Berlin', 'Asia/Tokyo']) }, 'works');
    }
    const [a, b, c] = [random.integer(2, 99), random.integer(2, 99), random.integer(0, 9)];
    const expression = `${String(a)}*${String(b)}+${String(c)}`;
    return plain('calculate', { expression }, { value: String(a * b + c) });
  }
}

/** A word of another attempt in a segment, with what is before it. */
function strangersIn({ text, attempt }: Segment): string | undefined {
  for (const match of text.matchAll(/#(\d+)(?=[ .]|$)/g)) {
    const isCutOff =
      match.index + match[0].length === text.length && String(attempt).startsWith(match[1] ?? '');
    if (Number(match[1]) === attempt || isCutOff) continue;
    const from = Math.max(0, match.index - SHOWN);
    return `a word of try ${String(match[1])}: …${text.slice(from, match.index + SHOWN)}…`;
  }
  return undefined;
}

function firstDifference(seen: string, planned: string): string {
  let at = 0;
  while (at < seen.length && seen[at] === planned[at]) at++;
  const from = Math.max(0, at - 20);
  const [was, is] = [planned, seen].map((text) => quote(text.slice(from, at + SHOWN)));
  return `at ${String(at)} of ${String(planned.length)}: expected ${String(was)}, seen ${String(is)}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 2 * SHOWN ? `${text.slice(0, 2 * SHOWN)}…` : text);
}
