import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { describeWhere } from '../support/describe-where.js';
import { endChunk, textChunk, type Script } from '../support/upstream.js';
import { p95, workOfFrames } from './frame-work.js';
import { Visits } from './visits.js';

/** A measurement: it needs a quiet machine, and is run by hand after a change to how the page shows messages. */
const describeAlone = describeWhere(
  process.env.FRAMES === 'yes' ? null : 'skipped: it measures frames; FRAMES=yes runs it',
);

const visits = new Visits();
const { visit } = visits;

describeAlone('the page', () => {
  visits.serve();

  it('renders frames in a thread of 1,000 messages with as little work as in an empty one', async () => {
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
    /** Measures a thread with so many replies. @param shown the number of replies that are shown */
    const measure = async (fragment: string, shown: number): Promise<number> => {
      const visitor = await visit({ fragment });
      if (shown > 0) await visitor.answers.filter({ hasText: 'number-499' }).waitFor();
      const earlier = visitor.page.getByRole('button', { name: /^Show earlier messages/ });
      while (shown > 50 && (await earlier.count()) > 0) await earlier.click();
      visits.service.when('Stream', paced);
      await visitor.composer.fill('Stream');
      const frames = await workOfFrames(visits.browser, visitor.page, async () => {
        await visitor.composer.press('Enter');
        await visitor.hears('word-1 ', shown);
        await visitor.composer.pressSequentially('I am typing while the reply streams and is measured', {
          delay: 20,
        });
        await visitor.hears('word-149', shown);
        await visitor.idle();
      });
      expect(frames.length).toBeGreaterThan(30);
      return p95(frames);
    };
    const empty = await measure('', 0);
    const newest = await measure(`session=${session}`, 50);
    const all = await measure(`session=${session}`, 501);
    const words = [empty, newest, all].map((work) => `${work.toFixed(1)} ms`);
    process.stderr.write(
      `work of a frame, p95: ${words.join(', ')} in an empty thread, with the newest 100 and with all of 1,000 messages\n`,
    );
    expect(newest).toBeLessThan(16);
    expect(newest / empty).toBeLessThan(1.5);
  }, 300_000);
});
