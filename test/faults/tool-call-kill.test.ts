import { randomUUID } from 'node:crypto';
import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Place } from '../cli/running.js';
import { openStream } from '../support/sse.js';

// The test starts processes, and waits for a lease to end.
jest.setTimeout(60_000);

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

const TOOL = `export const tool = {
  name: 'wait_long', description: 'Waits.', sideEffects: 'yes',
  parameters: { type: 'object', properties: {} },
  run: (_args, { signal, progress }) => {
    progress('waiting');
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  },
};
`;

it('a call that a kill has cut is ended as failed, with an unknown outcome, by the next process', async () => {
  mkdirSync(join(place.directory, 'tools'));
  writeFileSync(join(place.directory, 'tools', 'wait_long.mjs'), TOOL);
  writeFileSync(join(place.directory, 'diptych.yaml'), 'tools: [./tools/wait_long.mjs]\n');
  const first = await place.serve();
  const session = randomUUID();
  const headers = { 'X-Session-Id': session };
  const stream = await openStream(`${first.url}/api/updates`, { headers });
  const cut = fetch(`${first.url}/api/tools`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'wait_long', args: {} }),
  }).catch((error: unknown) => error);
  await stream.until(({ bytes }) => bytes.includes('"waiting"'));
  first.running.child.kill('SIGKILL');
  await first.running.ended;
  expect(await cut).toMatchObject({ message: 'fetch failed' });

  const second = await place.serve();
  const again = await openStream(`${second.url}/api/updates`, {
    headers: { ...headers, 'Last-Event-ID': '0' },
  });
  await again.until(({ bytes }) => bytes.includes('tool_complete'));
  again.close();
  const events = again.events.flatMap(({ data }): unknown[] => {
    const event: unknown = JSON.parse(data);
    return typeof event === 'object' && event !== null && 'tool_name' in event ? [event] : [];
  });
  expect(events).toMatchObject([
    { type: 'tool_update', tool_name: 'wait_long', status: 'running' },
    { type: 'tool_update', tool_name: 'wait_long', status: 'running' },
    { type: 'tool_complete', tool_name: 'wait_long', status: 'failed', result: 'outcome unknown' },
  ]);
  second.running.child.kill('SIGTERM');
  expect(await second.running.ended).toBe(0);
});
