import type { Conversation, SentMessage } from './conversation.js';
import type { Random } from './random.js';
import { planOf, textOf } from './script.js';
import { ChatEvent } from './shapes.js';
import { Cut, eventsOf, type OpenAnswer } from './wire.js';
import type { Door, World } from './world.js';

/** Ends of a stream that say that the answer goes on without it. */
const LEFT_EARLY = /restarting|broke off/;

/**
 * Reads the stream of a turn (§4.13) to its end, or goes away in the middle. Checks that it ends in exactly one `complete`
 * or `error` unless a kill cut it, and that its text and calls are those of the script, in order, each once.
 */
export async function readChatStream(
  world: World,
  conversation: Conversation,
  sent: SentMessage,
  { answer, door, random }: { answer: OpenAnswer; door: Door; random: Random },
): Promise<void> {
  const { figures } = world;
  const leaveAfter = random.chance(0.15) ? random.integer(0, 30) : Infinity;
  const plan = planOf(world.seed, sent.marker);
  const expected = textOf(plan);
  const ids = plan.flatMap(({ calls }) => calls.map(({ id }) => id));
  const called: string[] = [];
  const returned: string[] = [];
  const ends: string[] = [];
  let text = '';
  let seen = 0;
  const wrong = (what: string): void => {
    figures.fault('legacyText', `${sent.marker} (${conversation.id}): ${what}`);
  };
  try {
    for await (const { data } of eventsOf(answer.message)) {
      if (seen++ >= leaveAfter) {
        figures.count('legacyLeft');
        answer.close();
        return;
      }
      const parsed = ChatEvent.safeParse(data);
      if (!parsed.success) {
        figures.fault('unexpected', `${sent.marker}: chat event ${JSON.stringify(data)}`);
        continue;
      }
      const event = parsed.data;
      if (ends.length > 0) {
        figures.fault(
          'legacyEnd',
          `${sent.marker} (${conversation.id}): ${event.type} after ${ends.join(' ')}`,
        );
      }
      if (event.type === 'text') text += event.content;
      else if (event.type === 'tool_call') called.push(event.call_id);
      else if (event.type === 'tool_result') returned.push(event.call_id);
      else ends.push(event.type === 'error' ? `error: ${event.message}` : 'complete');
    }
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
    if (door.mayBreak()) figures.count('legacyCut');
    else figures.fault('legacyEnd', `${sent.marker} (${conversation.id}): broke off without a kill`);
  }
  if (!expected.startsWith(text))
    wrong(`said ${JSON.stringify(text)} instead of ${JSON.stringify(expected)}`);
  if (called.some((id, index) => id !== ids[index]))
    wrong(`calls ${called.join(' ')} instead of ${ids.join(' ')}`);
  if (new Set(returned).size !== returned.length || returned.some((id) => !called.includes(id))) {
    wrong(`results ${returned.join(' ')} of calls ${called.join(' ')}`);
  }
  const [end] = ends;
  if (end === undefined) {
    if (!door.mayBreak()) {
      figures.fault('legacyEnd', `${sent.marker} (${conversation.id}): neither complete nor error`);
    }
    return;
  }
  figures.count('legacyStreams');
  if (LEFT_EARLY.test(end)) return;
  if (end === 'complete' && returned.length !== called.length) wrong('complete, but a call has no result');
  const mayBeLonger = world.isTroubledSince(sent.startedAt);
  sent.streamed = { text, end: end === 'complete' ? 'complete' : 'error', mayBeLonger };
}
