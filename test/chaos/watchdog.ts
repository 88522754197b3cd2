import type { Figures } from './figures.js';
import type { ServedNode } from './served-node.js';
import { sleep } from './world.js';

const PAUSE_MS = 1_000;
/** A process that is up and does not answer a health check for so long holds its event loop. */
const SILENT_MS = 20_000;

/** Ends a node that answers nothing any more, as a supervisor with a liveness probe does, so that the run goes on. */
export async function watchLiveness(
  node: ServedNode,
  { figures, isOver, busy }: { figures: Figures; isOver: () => boolean; busy: () => string },
): Promise<void> {
  let answeredAt = Date.now();
  while (!isOver()) {
    await sleep(PAUSE_MS);
    // One that was down or stopped is not silent by its own doing.
    const [wasUp, before] = [node.isUp, node.generation];
    // One request for all the time: on a busy machine every answer may take seconds.
    const isAnswered = (await node.health(SILENT_MS)) !== undefined;
    if (isAnswered || !wasUp || !node.isUp || before !== node.generation) answeredAt = Date.now();
    if (Date.now() - answeredAt < SILENT_MS) continue;
    const silent = `${node.name} answered no health check for ${String(SILENT_MS / 1000)} s and was killed`;
    figures.fault('hung', `${silent}; under way: ${busy()}`);
    await node.abandon();
    await node.start();
    answeredAt = Date.now();
  }
}
