import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createModelRig } from '../../src/adapters/models/create-rig.js';
import type { Store } from '../../src/core/ports/store.js';
import type { Tool } from '../../src/core/ports/tool.js';
import { Gate } from '../support/gate.js';
import { openStore } from '../support/http.js';
import { openHouse, type House } from '../support/house.js';
import type { OpenStream } from '../support/sse.js';
import { STRICT_MODELS, StrictProvider, unwilling, type StrictModel } from '../support/strict-models.js';
import { getTime } from '../support/tools.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

/** Services on one store, one after the other, with a provider behind them. */
let store: Store;
let upstream: Upstream;
let session: string;
const houses: House[] = [];

beforeEach(async () => {
  store = await openStore('memory');
  upstream = await startUpstream();
  session = randomUUID();
});

afterEach(async () => {
  for (const house of houses.splice(0)) await house.close();
  await upstream.close();
  await store.close();
});

/** Starts the service, with nothing in memory. */
async function start(tools: readonly Tool[] = [getTime]): Promise<House> {
  const rig = createModelRig({
    ...{ id: 'm', name: 'M', provider: 'openai-compatible', model: 'm', contextTokens: 100_000 },
    ...{ baseUrl: `${upstream.url}/v1`, apiKey: null },
  });
  const house = await openHouse({ store, tools, rigs: [rig] });
  await house.core.start();
  houses.push(house);
  return house;
}

async function stop(house: House): Promise<void> {
  houses.splice(houses.indexOf(house), 1);
  await house.core.drain(0);
  await house.close();
}

/** The stream of a turn, by its idempotency key. */
function chat(house: House, key: string): Promise<OpenStream> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key };
  const body = JSON.stringify({ text: `What time is it? (${key})` });
  return house.watch('/api/thread/chat', session, { method: 'POST', headers, body });
}

/** Whether a turn ended with the answer of the model. */
async function answered(house: House, key: string): Promise<boolean> {
  const bytes = await (await chat(house, key)).end();
  return bytes.includes('"content":"It is noon."') && bytes.endsWith('data: {"type":"complete"}\n\n');
}

function serve(model: StrictModel, status?: number): StrictProvider {
  const provider = new StrictProvider(model, status);
  upstream.always(provider.script);
  return provider;
}

const requiresAllMessages = (name: string): boolean => name === 'DeepSeek V4';

describe.each(STRICT_MODELS.map((model) => [model.name, model] as const))('%s', (name, model) => {
  it('gets back what it sent, over several steps and turns', async () => {
    const provider = serve(model);
    const house = await start();
    expect(await answered(house, 'one')).toBe(true);
    expect(provider.refusals).toEqual([]);
    expect(await answered(house, 'two')).toBe(true);
    expect(await answered(house, 'three')).toBe(true);
    // A message without calls has no place in the memory, so the first refusal sets the habit.
    expect(provider.refusals).toHaveLength(requiresAllMessages(name) ? 1 : 0);
  });

  it('gets placeholders when the service restarted within the turn, after one refusal', async () => {
    const provider = serve(model);
    const second = new Gate();
    let runs = 0;
    const waiting: Tool = {
      ...getTime,
      run: (args, context) => {
        if (++runs === 1) return getTime.run(args, context);
        second.open();
        return new Promise(() => undefined);
      },
    };
    const before = await start([waiting]);
    await chat(before, 'one');
    await second.passed;
    await stop(before);
    expect(provider.refusals).toEqual([]);
    const after = await start();
    expect(await answered(after, 'one')).toBe(true);
    expect(provider.refusals).toHaveLength(1);
    expect(await answered(after, 'two')).toBe(true);
    expect(provider.refusals).toHaveLength(1);
  });
});

describe('a provider that sends reasoning and refuses to take it back', () => {
  it.each([400, 422])('gets none after one refusal with status %i', async (status) => {
    const provider = serve(unwilling, status);
    const house = await start();
    expect(await answered(house, 'one')).toBe(true);
    expect(await answered(house, 'two')).toBe(true);
    expect(provider.refusals).toHaveLength(1);
  });
});
