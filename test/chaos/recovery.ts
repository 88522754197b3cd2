import type { Followed } from './client.js';
import type { Figures } from './figures.js';
import { pollState } from './polling.js';
import type { Random } from './random.js';
import { sleep, type World } from './world.js';

/**
 * A session whose turn was lost runs again, or has ended, so long after; the time of the questions comes on top, so
 * that a machine that is too busy to answer them is no fault.
 */
const STUCK_MS = 10_000;
const PAUSE_MS = 250;

/** Sessions with turns that have not ended as far as is known. */
export function openAmong(conversations: readonly Followed[], figures: Figures): readonly Followed[] {
  const open = conversations.filter(({ conversation }) => conversation.open.length > 0);
  figures.count('openAtKill', open.length);
  return open;
}

/** Sees to it that each of these sessions is worked on again, or has ended, ten seconds after a time. */
export async function watchRecovery(
  world: World,
  open: readonly Followed[],
  { since, after, random }: { since: number; after: string; random: Random },
): Promise<void> {
  const { upstream } = world;
  const isStill = ({ conversation: { name } }: Followed): boolean => upstream.lastAsked(name) < since;
  let waiting = open;
  for (let waited = Date.now() - since; waiting.length > 0 && waited < STUCK_MS; waited += PAUSE_MS) {
    await sleep(PAUSE_MS);
    waiting = waiting.filter(isStill);
    const states = await Promise.all(
      waiting.map(({ conversation }) => pollState(world, conversation, random)),
    );
    waiting = waiting.filter((_, index) => states[index]?.is_processing !== false);
  }
  for (const followed of waiting) {
    const { name, id } = followed.conversation;
    if (!(await isProcessing(world, followed, random))) continue;
    // A long answer of a turn that was not lost is work, too.
    if (!isStill(followed) || upstream.isAnswering(name)) continue;
    world.figures.fault('stuck', `${name} (${id}) after ${after}`);
  }
}

/** By an answer, which may take more than one question while nodes come and go. */
async function isProcessing(world: World, { conversation }: Followed, random: Random): Promise<boolean> {
  for (let tries = 0; tries < 20; tries++) {
    const state = await pollState(world, conversation, random);
    if (state !== undefined) return state.is_processing;
    await sleep(PAUSE_MS);
  }
  return true;
}
