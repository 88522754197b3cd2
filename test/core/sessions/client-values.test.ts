import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RunningCore } from '../../../src/core/create-core.js';
import { closeTestCores, created, testCore } from '../../support/core.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

const CLIENT = 'client-of-16-char';
const OTHER = 'another-client-id';

let core: RunningCore;
let session: string;
beforeEach(() => {
  ({ core } = testCore({ rigs: [new ScriptedRig()] }));
  session = randomUUID();
});
afterEach(closeTestCores);

const owner = (clientId?: string, sessionId?: string) => ({ clientId, sessionId });
const key = { provider: 'openai', apiKey: 'sk-proj-0123456789abcdef', label: undefined };

describe('ClientValues', () => {
  it('lists the secrets of the named client, else of the client of the session, else none', async () => {
    const asked = { app: undefined, key: undefined, session: created(session) };
    await core.storeSecrets({ ...asked, clientId: CLIENT, values: { A: 'v' } });
    await core.storeSecrets({ ...asked, session: undefined, clientId: OTHER, values: { B: 'v' } });
    expect(await core.listSecrets(owner(undefined, session))).toEqual({ default: ['A'] });
    expect(await core.listSecrets(owner('', session))).toEqual({ default: ['A'] });
    expect(await core.listSecrets(owner(OTHER, session))).toEqual({ default: ['B'] });
    expect(await core.listSecrets(owner(undefined, randomUUID()))).toEqual({});
    expect(await core.listSecrets(owner())).toEqual({});
    await core.bindClient(created(session), OTHER);
    expect(await core.listSecrets(owner(undefined, session))).toEqual({ default: ['B'] });
  });

  it('binds no session to an id that nothing can be stored under', async () => {
    await core.bindClient(created(session), CLIENT);
    await core.bindClient(created(session), 'x'.repeat(15));
    await core.storeProviderKey(owner(undefined, session), key);
    expect(await core.listProviderKeys(owner(CLIENT))).toHaveLength(1);
  });

  it('binds the session to the client when a key is stored, not when keys are listed or deleted', async () => {
    await core.listProviderKeys(owner(CLIENT, session));
    await core.deleteProviderKey(owner(CLIENT, session), 'openai');
    await expect(core.getSession(session)).rejects.toMatchObject({ reason: 'not_found' });
    await core.storeProviderKey(owner(CLIENT, session), key);
    expect(await core.listProviderKeys(owner(undefined, session))).toMatchObject([{ provider: 'openai' }]);
    expect(await core.deleteProviderKey(owner(undefined, session), 'openai')).toBe(true);
    expect(await core.listProviderKeys(owner(CLIENT))).toEqual([]);
  });

  it('creates no session and binds none when a key is refused', async () => {
    const refused = core.storeProviderKey(owner(CLIENT, session), { ...key, apiKey: 'short' });
    await expect(refused).rejects.toMatchObject({ reason: 'invalid' });
    await expect(core.listProviderKeys(owner(undefined, session))).rejects.toMatchObject({
      reason: 'invalid',
      details: [{ path: 'client_id' }],
    });
    await expect(core.getSession(session)).rejects.toMatchObject({ reason: 'not_found' });
  });
});
