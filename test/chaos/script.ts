import { Random } from './random.js';

/** A tool call that the scripted model makes. */
export interface PlannedCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, string>>;
  /** What the tool must answer, where that is known. */
  readonly result: string | undefined;
}

/** One answer of the model: text, then perhaps calls. */
export interface PlannedStep {
  readonly pieces: readonly string[];
  readonly text: string;
  readonly calls: readonly PlannedCall[];
}

/** Everything that the scripted model says to one message. A function of the seed and the message's marker alone. */
export type Plan = readonly PlannedStep[];

const WORDS = 'amber birch cedar delta ember fjord grove heron inlet juniper kelp lark möwe nest 橋 😀'.split(
  ' ',
);

/** The unique word in a text: `c3s2n5` is the fifth message of the second session of client 3. */
export function markerIn(text: string): string | undefined {
  return /\bc\d+s\d+n\d+\b/.exec(text)?.[0];
}

/** The session that a marker belongs to: `c3s2`. */
export function sessionOf(marker: string): string {
  return marker.slice(0, marker.indexOf('n'));
}

export function planOf(seed: string, marker: string): Plan {
  const random = new Random(seed, 'plan', marker);
  const toolSteps = random.weigh([['0', 5], ['1', 4], ['2', 1]], '0'); // prettier-ignore
  const steps: PlannedStep[] = [];
  for (let index = 0; index < Number(toolSteps); index++) {
    const pieces = random.chance(0.5) ? piecesOf(random, `${marker} looks (${String(index)}):`, 1, 8) : [];
    const calls = Array.from({ length: random.integer(1, 3) }, (_, at) =>
      callOf(random, `call_${marker}_${String(index)}_${String(at)}`),
    );
    steps.push({ pieces, text: pieces.join(''), calls });
  }
  const pieces = [
    ...piecesOf(random, `${marker} says:`, 2, random.chance(0.2) ? 120 : 40),
    ` end of ${marker}.`,
  ];
  return [...steps, { pieces, text: pieces.join(''), calls: [] }];
}

/** All the text of a plan, as a stream shows it. */
export function textOf(plan: Plan): string {
  return plan.map(({ text }) => text).join('');
}

function piecesOf(random: Random, first: string, min: number, max: number): string[] {
  const words = Array.from(
    { length: random.integer(min, max) },
    () => ` ${WORDS[random.integer(0, 15)] ?? ''}`,
  );
  return [first, ...words];
}

function callOf(random: Random, id: string): PlannedCall {
  if (random.chance(0.25)) return { id, name: 'book_entry', args: { entry: id }, result: id };
  if (random.chance(0.4)) {
    const timezone = random.pick(['UTC', 'Europe/Berlin', 'Asia/Tokyo']);
    return { id, name: 'get_time', args: { timezone }, result: undefined };
  }
  const [a, b, c] = [random.integer(2, 99), random.integer(2, 99), random.integer(0, 9)];
  const expression = `${String(a)}*${String(b)}+${String(c)}`;
  return { id, name: 'calculate', args: { expression }, result: String(a * b + c) };
}
