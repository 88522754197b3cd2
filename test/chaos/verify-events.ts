import type { Followed } from './client.js';
import type { Conversation } from './conversation.js';
import type { Random } from './random.js';
import { UpdateEvent, type StoredRecord } from './shapes.js';
import { Cut, eventsOf, open } from './wire.js';
import { sleep, type World } from './world.js';

const PATIENCE_MS = 10_000;

/** Everything that a session has announced, from the first event to the one with the id `cursor`. */
export async function replay(
  world: World,
  id: string,
  cursor: number,
  random: Random,
): Promise<ReadonlyMap<number, string>> {
  const events = new Map<number, string>();
  if (cursor === 0) return events;
  const headers = { Accept: 'text/event-stream', 'X-Session-Id': id };
  const answer = await open({
    method: 'GET',
    url: `${world.door(random).base}/api/updates?since=0`,
    headers,
  });
  const timer = setTimeout(() => {
    answer.close();
  }, PATIENCE_MS);
  let last = 0;
  try {
    for await (const event of eventsOf(answer.message)) {
      if (event.id === undefined) continue;
      if (event.id !== last + 1) {
        world.figures.fault(
          'eventGap',
          `${id}: in the full replay ${String(event.id)} follows ${String(last)}`,
        );
      }
      last = event.id;
      events.set(event.id, JSON.stringify(event.data));
      if (event.id >= cursor) break;
    }
  } catch (error) {
    if (!(error instanceof Cut)) throw error;
  }
  clearTimeout(timer);
  answer.close();
  if (last !== cursor) {
    world.figures.fault(
      'eventGap',
      `${id}: the full replay ends at ${String(last)}, the cursor is ${String(cursor)}`,
    );
  }
  return events;
}

/** Compares the full replay with what followers saw, with the records, and with the title. */
export function compareEvents(
  world: World,
  { conversation, followers }: Followed,
  facts: {
    events: ReadonlyMap<number, string>;
    cursor: number;
    records: readonly StoredRecord[];
    title: string;
  },
): void {
  const { figures } = world;
  const { events, cursor, records, title } = facts;
  const where = `${conversation.name} (${conversation.id})`;
  for (const [id, content] of conversation.events) {
    if (events.get(id) === content) continue;
    const kind = events.has(id) ? 'eventChanged' : 'eventGap';
    figures.fault(kind, `${where}: ${String(id)} was ${content}, is ${String(events.get(id))}`);
  }
  for (const follower of followers) {
    for (const turn of follower.running) {
      figures.fault('turnEvents', `${follower.name} (${conversation.id}): the end of ${turn} was not shown`);
    }
    // One that began without a cursor, and saw nothing since, has none.
    if (follower.cursor !== null && follower.cursor !== cursor) {
      figures.fault(
        'fellShort',
        `${follower.name} (${conversation.id}): ${String(follower.cursor)} of ${String(cursor)}`,
      );
    }
  }
  const parsed = [...events.values()].map((text) => UpdateEvent.parse(JSON.parse(text)));
  const titles = parsed.flatMap((event) => (event.type === 'title_changed' ? [event.new_title] : []));
  judgeTitles(world, conversation, { titles, title, where });
  const tools = parsed.flatMap((event) =>
    event.type === 'tool_update' || event.type === 'tool_complete' ? [event] : [],
  );
  const results = new Map(
    records.flatMap(({ tool_results }) => tool_results ?? []).map(({ call_id, result }) => [call_id, result]),
  );
  for (const { call_id } of records.flatMap(({ tool_calls }) => tool_calls ?? [])) {
    const own = tools.filter((event) => event.call_id === call_id);
    const result = results.get(call_id);
    const text = typeof result === 'string' ? result : JSON.stringify(result);
    const isRight =
      own.length === 2 &&
      own[0]?.type === 'tool_update' &&
      own[1]?.type === 'tool_complete' &&
      own[1].result === text;
    if (!isRight) figures.fault('toolEvents', `${where}: ${call_id} ${text}: ${JSON.stringify(own)}`);
  }
  const unknown = tools.filter(({ call_id }) => !results.has(call_id));
  if (unknown.length > 0) figures.fault('toolEvents', `${where}: of no record: ${JSON.stringify(unknown)}`);
}

/**
 * At most one title is the service's own, none of these comes after a person's, and the last one of a person's stands.
 */
function judgeTitles(
  world: World,
  conversation: Conversation,
  { titles, title, where }: { titles: readonly string[]; title: string; where: string },
): void {
  const { figures } = world;
  const announced = titles.join(', ');
  if ((titles.at(-1) ?? 'New Chat') !== title) {
    figures.fault('snapshot', `${where}: the title is ${title}, announced was ${announced}`);
  }
  const own = titles.filter((given) => !conversation.titles.includes(given));
  if (own.length > 1) figures.fault('eventDouble', `${where}: ${String(own.length)} titles: ${announced}`);
  const wanted = conversation.titles.at(-1);
  if (wanted === undefined) return;
  if (title !== wanted)
    figures.fault('titleLost', `${where}: ${title} instead of ${wanted}; announced ${announced}`);
  const first = titles.findIndex((given) => conversation.titles.includes(given));
  if (titles.slice(first).some((given) => own.includes(given))) {
    figures.fault('titleLost', `${where}: a title of the service's own after a person's: ${announced}`);
  }
}

/** Waits until every follower has seen the event `cursor` and the end of every turn, for ten seconds at most. */
export async function caughtUp({ followers }: Followed, cursor: number): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  const isBehind = (): boolean =>
    followers.some(
      (follower) => (follower.cursor !== null && follower.cursor < cursor) || follower.running.length > 0,
    );
  while (isBehind() && Date.now() < until) await sleep(20);
}
