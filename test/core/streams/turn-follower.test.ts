import '../../support/property-seed.js';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import fc from 'fast-check';
import type { TurnEvent } from '../../../src/core/model/event.js';
import { TurnFollower, type TurnSource, type TurnView } from '../../../src/core/streams/turn-follower.js';
import { keptLog } from '../../support/core.js';
import { TurnScript, type ScriptedAttempt } from '../../support/turn-script.js';

/** Keeps what is shown of a turn. */
class Screen implements TurnView {
  text = '';
  calls: string[] = [];
  results: string[] = [];
  ends: (TurnEvent | undefined)[] = [];
  cuts = 0;
  /** All texts that were ever shown, void ones too. */
  readonly seen: string[] = [];

  /** @param replaces whether what was shown can be taken back */
  constructor(private readonly replaces: boolean) {}

  show(event: TurnEvent): void {
    expect(this.ends.length + this.cuts).toBe(0);
    if (event.type === 'text') {
      expect(event.before + event.offset).toBe(this.text.length);
      this.text += event.content;
      this.seen.push(this.text);
    }
    if (event.type === 'tool_called') this.calls.push(event.call.callId);
    if (event.type === 'tool_returned') {
      expect(this.calls).toContain(event.result.callId);
      this.results.push(event.result.callId);
    }
  }

  showPast(events: readonly TurnEvent[]): void {
    for (const event of events) this.show(event);
  }

  restart(): boolean {
    this.text = '';
    this.calls = [];
    this.results = [];
    if (!this.replaces) this.cuts++;
    return this.replaces;
  }

  end(event: TurnEvent | undefined): void {
    this.ends.push(event);
  }
}

/** Pieces of text that say which attempt made them; now and then an attempt says what another one has said. */
const attempts: fc.Arbitrary<ScriptedAttempt[]> = fc
  .array(
    fc.record({
      steps: fc.array(
        fc.record({
          pieces: fc.array(fc.constantFrom('x', 'yy', 'zzz', ''), { maxLength: 4 }),
          calls: fc.integer({ min: 1, max: 3 }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      checkpoints: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      isHere: fc.boolean(),
      isLike: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((scripts) =>
    scripts.map(({ steps, isLike, ...rest }, attempt) => ({
      ...rest,
      steps: steps.map(({ pieces, calls }) => ({
        pieces: pieces.map((piece) => (isLike ? piece : piece.replaceAll(/./g, String(attempt)))),
        calls,
      })),
    })),
  );

/** What the bus and the machine do at one moment. */
interface Fate {
  readonly isLost: boolean;
  /** What is published waits. */
  readonly isLate: boolean;
  /** What waits is delivered, each attempt's in its order. */
  readonly delivers: boolean;
  readonly compares: 'no' | 'changed' | 'unchanged';
  /** How far promises come before the next moment. */
  readonly ticks: number;
}

const fates = fc.infiniteStream(
  fc.record<Fate>({
    isLost: fc.boolean(),
    isLate: fc.boolean(),
    delivers: fc.boolean(),
    compares: fc.constantFrom('no', 'changed', 'unchanged'),
    ticks: fc.constantFrom(0, 1, 2, 5, 20),
  }),
);

function nextOf(chance: Iterator<Fate, unknown>): Fate {
  const next = chance.next();
  if (next.done === true) throw new Error('the stream of fates is infinite');
  return next.value;
}

async function pass(ticks: number): Promise<void> {
  for (let n = 0; n < ticks; n++) await Promise.resolve();
}

describe('TurnFollower', () => {
  it.each([
    ['takes back what is void', true],
    ['cannot take back what it has shown', false],
  ])(
    'shows each character, call and result once, never text of two attempts as one, and an end, on a stream that %s',
    async (_, replaces) => {
      await fc.assert(
        fc.asyncProperty(
          attempts,
          fc.constantFrom('complete', 'interrupted', 'failed'),
          fc.integer({ min: 0, max: 12 }),
          fates,
          async (scripts, outcome, joinsAt, chance) => {
            const script = new TurnScript(scripts, outcome);
            const source: TurnSource = {
              clock: systemClock,
              log: keptLog(),
              inSession: () => script.here,
              store: {
                readFlight: () => Promise.resolve(script.flight),
                readTurn: () => Promise.resolve({ turn: script.turn, messages: [...script.records] }),
              },
            };
            const screen = new Screen(replaces);
            const follower = new TurnFollower('session', 'turn', source, screen);
            const late = scripts.map((): TurnEvent[] => []);
            let moment = 0;
            for (const { events, attempt } of script.play()) {
              if (moment++ < joinsAt) continue;
              if (moment === joinsAt + 1) void follower.begin();
              const fate = nextOf(chance);
              const waiting = late[attempt] ?? [];
              for (const event of events) {
                if (scripts[attempt]?.isHere === true) follower.receive(event);
                else if (fate.isLate || waiting.length > 0) waiting.push(event);
                else if (!fate.isLost) follower.receive(event);
              }
              if (fate.delivers)
                for (const event of late.flatMap((list) => list.splice(0))) follower.receive(event);
              if (fate.compares !== 'no') follower.compare(fate.compares === 'changed');
              await pass(fate.ticks);
            }
            for (const event of late.flat()) follower.receive(event);
            for (let n = 0; n < 5 && screen.ends.length + screen.cuts === 0; n++) {
              follower.compare(true);
              await pass(50);
            }
            follower.close();

            expect([screen.ends.length + screen.cuts, replaces ? screen.cuts : 0]).toEqual([1, 0]);
            for (const text of screen.seen)
              expect(script.said.some((said) => said.startsWith(text))).toBe(true);
            if (screen.cuts === 1) return;
            const kept = script.records.slice(1);
            expect(screen.text).toBe(kept.map(({ content }) => content).join(''));
            const ids = kept.flatMap(({ toolCalls }) => toolCalls?.map(({ callId }) => callId) ?? []);
            expect(screen.calls).toEqual(ids);
            expect(screen.results.toSorted()).toEqual(
              kept.flatMap(({ toolResults }) => toolResults?.map(({ callId }) => callId) ?? []).toSorted(),
            );
          },
        ),
        { numRuns: 500 },
      );
    },
    60_000,
  );
});
