import type { Conversation } from './conversation.js';
import type { Random } from './random.js';
import { ask, Cut, Hung } from './wire.js';
import { judge, judgeCut, sleep, type World } from './world.js';

/** Gives a session a title of a person's, and tries again until it is acknowledged. */
export async function rename(world: World, conversation: Conversation, random: Random): Promise<void> {
  const title = `Renamed ${String(conversation.titles.length + 1)} of ${conversation.name} ✎`;
  const what = `rename of ${conversation.name} (${conversation.id})`;
  conversation.titles.push(title);
  world.figures.count('renames');
  for (;;) {
    const door = world.door(random);
    const askedAt = Date.now();
    try {
      const answer = await ask({
        method: 'PATCH',
        url: `${door.base}/api/sessions/${conversation.id}`,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ title }),
      });
      const judgement = judge(world, what, answer, { door, askedAt, expected: [200] });
      if (judgement === 'expected') return;
      if (judgement === 'wrong') {
        // The fault is counted. Whether the title was stored is not known.
        conversation.titles.pop();
        return;
      }
    } catch (error) {
      if (error instanceof Hung) world.figures.fault('hung', `${what}: ${error.message}`);
      else if (error instanceof Cut) judgeCut(world, what, door, error);
      else throw error;
    }
    await world.whenUp();
    await sleep(random.between(50, 300));
  }
}
