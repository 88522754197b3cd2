import { toolChunk, type Reply } from '../support/upstream.js';
import type { Random } from './random.js';

/** What a hostile provider does in one response. */
export type Hostility = 'garbage' | 'html' | 'endless' | 'reset' | 'sparse' | 'silent';

export const HOSTILITIES: readonly (readonly [Hostility, number])[] = [
  ['garbage', 6],
  ['html', 2],
  ['endless', 1],
  ['reset', 4],
  ['sparse', 2],
  ['silent', 1],
];

/** Events that are no chunk of a chat completion. */
const GARBAGE = [
  '{"choices":[{"delta":{"content":"cut of',
  'null',
  '[1,2,3]',
  '{"choices":null}',
  '{"choices":[{"index":0,"delta":{"content":{"text":5}}}]}',
  '{"choices":[{"index":0,"delta":null}]}',
  '{"choices":[],"usage":"much"}',
  '\u0000',
] as const;

const LINE = 'A'.repeat(65_536);
/** The service gives a line up at 4 MiB. */
const ENDLESS_BYTES = 16 * 1_048_576;

export function garbageOf(random: Random): string {
  return random.pick(GARBAGE);
}

/** A response that is none, from its beginning or after what was sent. Resolves when nothing more comes. */
export async function beHostile(
  reply: Reply,
  kind: Exclude<Hostility, 'garbage'>,
  { isOpen, pause, isGone }: { isOpen: boolean; pause: (ms: number) => Promise<void>; isGone: () => boolean },
): Promise<void> {
  if (!isOpen && kind !== 'html') reply.open();
  switch (kind) {
    case 'html':
      reply.head(200);
      reply.raw('<html><body>Welcome to the captive portal</body></html>');
      return;
    case 'endless':
      reply.raw('data: {"choices":[{"index":0,"delta":{"content":"');
      for (let sent = 0; sent < ENDLESS_BYTES && !isGone(); sent += LINE.length) {
        reply.raw(LINE);
        await pause(1);
      }
      reply.drop();
      return;
    case 'reset':
      await pause(10);
      reply.drop();
      return;
    case 'sparse':
      // An index that a list must not be as long as.
      reply.event(toolChunk(4_294_967_294, { id: 'call_sparse', name: 'calculate', arguments: '{}' }));
      reply.event(toolChunk(-1, { id: 'call_negative', name: 'calculate', arguments: '{}' }));
      await pause(10);
      reply.drop();
      return;
    case 'silent':
      // Comments only, then the end without a word.
      for (let n = 0; n < 20 && !isGone(); n++) {
        reply.raw(`: keep-alive ${'.'.repeat(1_000)}\n\n`);
        await pause(10);
      }
      reply.drop();
  }
}
