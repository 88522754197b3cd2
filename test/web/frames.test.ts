import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { describeWhere } from '../support/describe-where.js';
import { endChunk, textChunk, type Script } from '../support/upstream.js';
import { Visits } from './visits.js';

/** A measurement: it needs a quiet machine, and is run by hand after a change to how the page shows messages. */
const describeAlone = describeWhere(
  process.env.FRAMES === 'yes' ? null : 'skipped: it measures frames; FRAMES=yes runs it',
);

const visits = new Visits();
const { visit } = visits;

describeAlone('the page', () => {
  visits.serve();

  it('renders in frames that are as short in a thread of a thousand as in an empty one', async () => {
    const session = randomUUID();
    for (let n = 0; n < 500; n++) {
      await fetch(`${visits.service.url}/api/chat?message=number-${String(n)}`, {
        method: 'POST',
        headers: { 'X-Session-Id': session, Prefer: 'wait=60' },
      }).then((sent) => sent.json());
    }
    const paced: Script = async (reply) => {
      reply.open();
      for (let n = 0; n < 150; n++) {
        reply.event(textChunk(`word-${String(n)} `));
        await pause(15);
      }
      reply.event(endChunk());
      reply.event('[DONE]');
    };
    const frames = async (fragment: string, answered: number): Promise<number> => {
      const visitor = await visit({ fragment });
      if (answered > 0) await visitor.hears(`number-499`, answered - 1);
      visits.service.when('Stream', paced);
      await visitor.page.evaluate(MEASURE);
      await visitor.say('Stream');
      await visitor.hears('word-1 ', answered);
      await visitor.composer.pressSequentially('I am typing while the reply streams and is measured', {
        delay: 20,
      });
      await visitor.hears('word-149', answered);
      await visitor.idle();
      return Number(await visitor.page.evaluate('measured()'));
    };
    const empty = await frames('', 0);
    const full = await frames(`session=${session}`, 50);
    process.stderr.write(
      `time of a frame, p95: ${empty.toFixed(1)} ms empty, ${full.toFixed(1)} ms with 1,000\n`,
    );
    expect(full / empty).toBeLessThan(1.5);
  }, 120_000);
});

/** Collects the times between frames; `measured()` returns their 95th percentile in milliseconds. */
const MEASURE = `
  const times = [];
  let last = performance.now();
  const frame = (now) => { times.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  globalThis.measured = () => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)];
`;
