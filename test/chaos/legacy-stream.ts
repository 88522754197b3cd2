import type { Conversation, SentMessage } from './conversation.js';
import type { Random } from './random.js';
import { ChatEvent } from './shapes.js';
import { Cut, eventsOf, type OpenAnswer } from './wire.js';
import type { Door, World } from './world.js';

/** Ends of a stream that say that the answer goes on without it. */
const LEFT_EARLY = /restarting|broke off|started again/;

/**
 * Reads the stream of `POST /api/thread/chat` to its end, or goes away in the middle. Checks that it ends in exactly
 * one `complete` or `error` unless a kill cut it, that each step's text is of one attempt and as in the script, and
 * that no call is there twice.
 */
export async function readChatStream(
  world: World,
  conversation: Conversation,
  sent: SentMessage,
  { answer, door, random }: { answer: OpenAnswer; door: Door; random: Random },
): Promise<void> {
  const { figures } = world;
  const leaveAfter = random.chance(0.15) ? random.integer(0, 30) : Infinity;
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
      else if (event.type === 'tool_result' || event.type === 'async_tool_result')
        returned.push(event.call_id);
      else ends.push(event.type === 'error' ? `error: ${event.message}` : 'complete');
    }
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
    if (door.mayBreak()) figures.count('legacyCut');
    else figures.fault('legacyEnd', `${sent.marker} (${conversation.id}): broke off without a kill`);
  }
  const reading = world.script.read(text);
  for (const what of reading.mixed) {
    const end = ends[0] ?? 'nothing';
    figures.fault('mixed', `legacy stream of ${sent.marker} (${conversation.id}), ended by ${end}: ${what}`);
  }
  reading.wrong.forEach(wrong);
  const strangers = reading.segments.filter(({ marker }) => marker !== sent.marker);
  if (strangers.length > 0) wrong(`holds text of ${strangers.map(({ marker }) => marker).join(' ')}`);
  if (new Set(called).size !== called.length) wrong(`calls ${called.join(' ')}`);
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
  if (conversation.removal !== null) return;
  // A stream may end before its turn, with words that say so, when the turn goes on elsewhere.
  if (end !== 'complete' && (LEFT_EARLY.test(end) || world.isTroubledSince(sent.startedAt))) return;
  if (end === 'complete' && returned.length !== called.length) wrong('complete, but a call has no result');
  const mayBeLonger = world.isTroubledSince(sent.startedAt);
  sent.streams.push({ text, calls: called, end: end === 'complete' ? 'complete' : 'error', mayBeLonger });
}
