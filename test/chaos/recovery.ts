import type { Followed } from './client.js';
import type { Figures } from './figures.js';
import { pollState } from './polling.js';
import type { Random } from './random.js';
import { sleep, type World } from './world.js';

/** A session whose turn was lost runs again, or has ended, so long after. */
export const STUCK_MS = 10_000;

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
  while (waiting.length > 0 && Date.now() < since + STUCK_MS) {
    await sleep(250);
    waiting = waiting.filter(isStill);
    const states = await Promise.all(
      waiting.map(({ conversation }) => pollState(world, conversation, random)),
    );
    waiting = waiting.filter((_, index) => states[index]?.is_processing !== false);
  }
  for (const followed of waiting) {
    const { name, id } = followed.conversation;
    // A long answer of a turn that was not lost is work, too.
    if (!isStill(followed) || upstream.isAnswering(name)) continue;
    world.figures.fault('stuck', `${name} (${id}) after ${after}`);
  }
}
