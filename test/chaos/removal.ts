import type { Followed } from './client.js';
import type { Conversation, Removal } from './conversation.js';
import type { Random } from './random.js';
import { ask, Cut, Hung } from './wire.js';
import { judge, judgeCut, sleep, type World } from './world.js';

/** A stream of a deleted session ends so long after at the latest, with Redis away and by the command line too. */
const END_MS = 8_000;

/**
 * Deletes a session, by HTTP or by the command line, and tries again until it is acknowledged, or answered as it must
 * not be: then nobody knows whether it is deleted.
 */
export async function remove(
  world: World,
  { conversation, followers }: Followed,
  random: Random,
): Promise<void> {
  const { id, name } = conversation;
  const removal: Removal = { startedAt: Date.now(), ackedAt: null };
  conversation.removal = removal;
  for (const sent of conversation.sent) if (sent.underway > 0) sent.mayReturn = true;
  world.upstream.forget(name);
  world.figures.count('deletes');
  const byCli = random.chance(0.3) && world.weather.calmSince !== null;
  const isDone =
    (byCli && (await deleteByCli(world, id))) ||
    (await deleteByHttp(world, conversation, { random, mayBeDone: byCli }));
  for (const sent of conversation.sent) sent.hasEnded = true;
  if (!isDone) return;
  removal.ackedAt = Date.now();
  setTimeout(() => {
    if (world.isTroubledSince(removal.startedAt)) return;
    for (const follower of followers.filter((one) => one.isOpenSince(removal.startedAt))) {
      world.figures.fault(
        'undead',
        `${follower.name} (${id}): its stream is open ${String(END_MS)} ms after`,
      );
    }
  }, END_MS).unref();
}

/** False: it failed, or the store was lost at the same time, so that nobody knows. */
async function deleteByCli(world: World, id: string): Promise<boolean> {
  const askedAt = Date.now();
  world.figures.count('cliDeletes');
  return (await world.deleteByCli(id)) && !world.weather.isRough('', askedAt);
}

/**
 * False: the answer was wrong.
 * @param how `mayBeDone`: an earlier try may have deleted it
 */
async function deleteByHttp(
  world: World,
  { id, name }: Conversation,
  how: { readonly random: Random; readonly mayBeDone: boolean },
): Promise<boolean> {
  const what = `deletion of ${name} (${id})`;
  const { random } = how;
  let { mayBeDone } = how;
  for (;;) {
    const door = world.door(random);
    const askedAt = Date.now();
    try {
      const answer = await ask({ method: 'DELETE', url: `${door.base}/api/sessions/${id}` });
      const expected = mayBeDone ? [200, 404] : [200];
      const judgement = judge(world, what, answer, { door, askedAt, expected });
      if (judgement === 'expected' || judgement === 'wrong') return judgement === 'expected';
      if (judgement === 'unknown') mayBeDone = true;
    } catch (error) {
      mayBeDone = true;
      if (error instanceof Hung) world.figures.fault('hung', `${what}: ${error.message}`);
      else if (error instanceof Cut) judgeCut(world, what, door, error);
      else throw error;
    }
    await world.whenUp();
    await sleep(random.between(50, 300));
  }
}
