import type { Followed } from './client.js';
import type { SentMessage, Streamed } from './conversation.js';
import { judgeTurn, type Verdict } from './judge-turn.js';
import { Random } from './random.js';
import { LegacyState, read, RecordPage, Snapshot, type StoredRecord } from './shapes.js';
import { caughtUp, compareEvents, replay } from './verify-events.js';
import { ask } from './wire.js';
import type { World } from './world.js';

/** What a tool says that finds no descriptor left for a connection of its own. */
const NO_DESCRIPTORS = 'no file descriptors left';

/** Compares a session that nobody works on any more, as the service has it, with everything that was seen of it. */
export async function verify(world: World, followed: Followed): Promise<void> {
  const { conversation } = followed;
  const where = `${conversation.name} (${conversation.id})`;
  const random = new Random(world.seed, 'verify', conversation.id);
  const records = await readRecords(world, conversation.id, random);
  if (conversation.removal !== null) {
    verifyRemoved(world, followed, records, where);
    return;
  }
  verifyMessages(world, followed, records, where);
  verifyTurns(world, followed, records, where);
  const headers = { 'X-Session-Id': conversation.id };
  const answer = await ask({ method: 'GET', url: `${world.door(random).base}/api/state`, headers });
  const snapshot = read(Snapshot, answer.body);
  if (snapshot === undefined) {
    world.figures.fault(
      'unexpected',
      `${where}: state ${String(answer.status)} ${answer.body.slice(0, 300)}`,
    );
    return;
  }
  if (snapshot.is_processing) world.figures.fault('neverEnded', `${where} is processing at the end`);
  await verifyShown(world, conversation.id, { records, snapshot, where, random });
  await verifyFaults(world, conversation.id, { records, where, random });
  if (conversation.etag !== null) {
    const again = { ...headers, 'If-None-Match': conversation.etag.tag };
    const { status } = await ask({
      method: 'GET',
      url: `${world.door(random).base}/api/state`,
      headers: again,
    });
    const held = read(Snapshot, conversation.etag.body);
    const isSame =
      JSON.stringify([held?.messages, held?.title]) === JSON.stringify([snapshot.messages, snapshot.title]);
    if (status === 304 && !isSame)
      world.figures.fault('snapshot', `${where}: 304 for a state that has changed`);
  }
  const cursor = Number(answer.headers['x-event-cursor']);
  await caughtUp(followed, cursor);
  const events = await replay(world, conversation.id, cursor, random);
  compareEvents(world, followed, { events, cursor, records, title: snapshot.title });
}

/** Nothing of a deleted session is left; what was sent while it was deleted may be there, or not. */
function verifyRemoved(
  world: World,
  { conversation }: Followed,
  records: readonly StoredRecord[],
  where: string,
): void {
  for (const { role, content } of records) {
    const sent = role === 'user' ? conversation.sent.find(({ text }) => text === content) : undefined;
    if (sent !== undefined && conversation.isDeleted(sent)) {
      world.figures.fault('undead', `${where}: ${sent.marker} is in the records`);
    }
    for (const what of world.script.read(role === 'assistant' ? content : '').mixed) {
      world.figures.fault('mixed', `${where}, deleted: ${what}`);
    }
  }
}

/** All records of a session, by pages of a random size. */
export async function readRecords(
  world: World,
  id: string,
  random: Random,
): Promise<readonly StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (;;) {
    const first = records[0];
    const before = first === undefined ? '' : `&before=${first.id}`;
    const url = `${world.door(random).base}/api/sessions/${id}/messages?limit=${String(random.integer(3, 40))}${before}`;
    const answer = await ask({ method: 'GET', url });
    // Nothing of it was stored.
    if (answer.status === 404) return records;
    const page = read(RecordPage, answer.body);
    if (answer.status !== 200 || page === undefined) {
      world.figures.fault('unexpected', `${url}: ${String(answer.status)} ${answer.body.slice(0, 300)}`);
      return records;
    }
    records.unshift(...page.messages);
    if (!page.has_more) return records;
  }
}

function verifyMessages(
  world: World,
  { conversation }: Followed,
  records: readonly StoredRecord[],
  where: string,
): void {
  const { figures } = world;
  const positions = new Map<string, number>();
  for (const [at, { role, content }] of records.entries()) {
    if (role !== 'user') continue;
    const sent = conversation.sent.find(({ text }) => text === content);
    if (sent === undefined) figures.fault('altered', `${where}: nobody sent ${JSON.stringify(content)}`);
    else if (positions.has(sent.marker)) figures.fault('doubled', `${where}: ${sent.marker}`);
    else positions.set(sent.marker, at);
  }
  for (const { marker, ackedAt, isRefused } of conversation.sent) {
    const isThere = positions.has(marker);
    if (ackedAt !== null && !isThere) figures.fault('lost', `${where}: ${marker}`);
    if (ackedAt === null && isRefused && isThere) figures.fault('refusedStored', `${where}: ${marker}`);
  }
  const acked = conversation.sent.filter(({ marker, ackedAt }) => ackedAt !== null && positions.has(marker));
  for (const first of acked) {
    for (const second of acked) {
      const isLater = (first.ackedAt ?? 0) < second.startedAt;
      if (isLater && (positions.get(first.marker) ?? 0) > (positions.get(second.marker) ?? 0)) {
        figures.fault('disorder', `${where}: ${first.marker} stands behind ${second.marker}`);
      }
    }
  }
  if (new Set(records.map(({ id }) => id)).size !== records.length)
    figures.fault('doubled', `${where}: a record`);
}

function verifyTurns(
  world: World,
  { conversation }: Followed,
  records: readonly StoredRecord[],
  where: string,
): void {
  const { figures } = world;
  if (records.length > 0 && records[0]?.role !== 'user')
    figures.fault('wrongAnswer', `${where} begins with an answer`);
  let answered = '';
  for (const [at, { role, content }] of records.entries()) {
    const sent = role === 'user' ? conversation.sent.find(({ text }) => text === content) : undefined;
    if (sent === undefined) continue;
    const next = records.findIndex((record, index) => index > at && record.role === 'user');
    const own = records.slice(at + 1, next === -1 ? undefined : next);
    const times = own.flatMap((record) => (record.role === 'assistant' ? [record.created_at] : [])).sort();
    if ((times[0] ?? answered) < answered && !world.areClocksWrong)
      figures.fault('disorder', `${where}: ${sent.marker} was answered before an earlier message`);
    answered = times.at(-1) ?? answered;
    const { outcome, problems, mixed, failures } = judgeTurn(world.script, sent.marker, own);
    const about = `${where} ${sent.marker}`;
    for (const what of mixed) figures.fault('mixed', `${about}: the record: ${what}`);
    for (const problem of problems) figures.fault('wrongAnswer', `${about}: ${problem}`);
    const isExcused = (failure: string): boolean =>
      figures.of('floods') > 0 && failure.includes(NO_DESCRIPTORS);
    for (const failure of failures)
      if (!isExcused(failure)) figures.fault('toolFailed', `${about}: ${failure}`);
    if (outcome === 'complete') figures.count('turnsComplete');
    else if (outcome === 'failed') {
      figures.count('turnsFailed');
      judgeFailure(world, sent, { own, about });
    } else if (sent.mayBeInterrupted) figures.count('turnsInterrupted');
    else figures.fault('cutShort', `${about}: ${outcome}, records ${JSON.stringify(own).slice(0, 400)}`);
    const text = own.flatMap((record) => (record.role === 'assistant' ? [record.content] : [])).join('');
    for (const { follower, marker, text: followed } of conversation.followed) {
      if (marker !== sent.marker || text.endsWith(followed)) continue;
      const shown = `showed ${JSON.stringify(followed)}, stored ${JSON.stringify(text)}`;
      figures.fault('turnEvents', `${about}: ${follower} ${shown}`);
    }
    for (const streamed of sent.streams) judgeStream(world, streamed, { own, text, outcome, about });
  }
}

/** A legacy stream showed what the records have. */
function judgeStream(
  world: World,
  streamed: Streamed,
  turn: { own: readonly StoredRecord[]; text: string; outcome: Verdict['outcome']; about: string },
): void {
  const { figures } = world;
  const { own, text, outcome, about } = turn;
  const stored = own.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ call_id }) => call_id));
  if (streamed.end === 'complete' && outcome === 'complete' && String(streamed.calls) !== String(stored)) {
    const both = `streamed calls ${streamed.calls.join(' ')}, stored ${stored.join(' ')}`;
    figures.fault('legacyText', `${about}: ${both}`);
  }
  const fits = streamed.end === 'complete' ? streamed.text === text : text.startsWith(streamed.text);
  // Nothing is kept of an answer whose owner was lost before the first checkpoint.
  const isLoss = (outcome === 'interrupted' || outcome === 'none') && streamed.text.startsWith(text);
  if (!fits && !(isLoss && (streamed.mayBeLonger || world.hasFenced()))) {
    const both = `streamed ${JSON.stringify(streamed.text)} (${streamed.end}), stored ${JSON.stringify(text)}`;
    figures.fault('legacyText', `${about}: ${both}`);
  }
  if (streamed.end === 'error' && outcome !== 'failed') {
    figures.fault('legacyText', `${about}: the stream ended with an error, the turn ${outcome}`);
  }
}

/**
 * A turn fails because the model failed it, because its owners were lost, or because its node had no descriptor left
 * for the model.
 */
function judgeFailure(
  world: World,
  sent: SentMessage,
  { own, about }: { own: readonly StoredRecord[]; about: string },
): void {
  const said = own.find(({ role }) => role === 'system')?.content ?? '';
  const isByOwner = said.startsWith('The service stopped');
  if (isByOwner || world.upstream.troublesOf(sent.marker).length > 0) return;
  if (world.figures.of('floods') > 0 && world.isTroubledSince(sent.startedAt)) return;
  world.figures.fault('wrongEnd', `${about}: ${said}`);
}

interface Stored {
  readonly records: readonly StoredRecord[];
  readonly where: string;
  readonly random: Random;
}

/** Both states show exactly what the records say. */
async function verifyShown(
  world: World,
  id: string,
  { records, snapshot, where, random }: Stored & { readonly snapshot: Snapshot },
): Promise<void> {
  const expected = JSON.stringify(records.flatMap(shown));
  const current = JSON.stringify(
    snapshot.messages.map((message) => [message.sender, message.content, message.tool_result]),
  );
  if (current !== expected)
    world.figures.fault('snapshot', `${where}: records ${expected}, state ${current}`);
  const answer = await ask({
    method: 'GET',
    url: `${world.door(random).base}/api/thread/state?session_id=${id}`,
  });
  // A session that nothing was stored of may be unknown.
  if (answer.status === 404 && records.length === 0) return;
  const legacy = read(LegacyState, answer.body);
  if (JSON.stringify(legacy?.messages) !== JSON.stringify(snapshot.messages)) {
    world.figures.fault('snapshot', `${where}: the legacy state differs: ${answer.body.slice(0, 300)}`);
  }
}

function shown({ role, content, tool_results }: StoredRecord): unknown[] {
  const sender = role === 'assistant' ? 'agent' : role;
  const text = content === '' && role === 'assistant' ? [] : [[sender, content, null]];
  const results = (tool_results ?? []).map(({ name, result }) => [
    'agent',
    '',
    [name, typeof result === 'string' ? result : JSON.stringify(result)],
  ]);
  return [...text, ...results];
}

/** Every failure in the history is among the system events once. */
async function verifyFaults(world: World, id: string, { records, where, random }: Stored): Promise<void> {
  const headers = { 'X-Session-Id': id };
  const answer = await ask({
    method: 'GET',
    url: `${world.door(random).base}/api/events?count=1000`,
    headers,
  });
  const events: unknown = JSON.parse(answer.body);
  const errors = Array.isArray(events)
    ? events.flatMap((event: unknown) =>
        typeof event === 'object' && event !== null && 'SystemError' in event ? [event.SystemError] : [],
      )
    : [];
  const told = records.filter(({ role }) => role === 'system').map(({ content }) => content);
  if (JSON.stringify([...errors].sort()) !== JSON.stringify([...told].sort())) {
    const detail = `${JSON.stringify(errors)} among the events, ${JSON.stringify(told)} in the history`;
    world.figures.fault('snapshot', `${where}: ${detail}`);
  }
}
