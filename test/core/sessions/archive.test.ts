import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeTestCores, created, message, spoken, testCore } from '../../support/core.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

describe('archiveSession', () => {
  it('archives a thread, which stays readable and usable, and takes it out again', async () => {
    const rig = new ScriptedRig();
    const { core, store } = testCore({ rigs: [rig] });
    const id = randomUUID();
    const sent = await core.send(message(id, 'Hello'));
    (await rig.next()).text('Hi.').end();
    await core.turnEnded(sent, new AbortController().signal);
    expect(await core.archiveSession(id, true)).toMatchObject({ id, archived: true });
    expect(spoken(await core.snapshot(created(id)))).toEqual(['user: Hello', 'assistant: Hi.']);
    await core.send(message(id, 'Again'));
    await rig.next();
    expect(await core.getSession(id)).toMatchObject({ archived: true });
    expect(await store.loadTail(id, 0)).toMatchObject({ session: { archived: true } });
    expect(await core.archiveSession(id, false)).toMatchObject({ archived: false });
  });

  it('writes nothing when nothing changes', async () => {
    const { core, store } = testCore({ rigs: [new ScriptedRig()] });
    const id = randomUUID();
    await core.createSession({ sessionId: id });
    await core.archiveSession(id, true);
    const revision = await store.revisionOf(id);
    expect(await core.archiveSession(id, true)).toMatchObject({ archived: true });
    expect(await store.revisionOf(id)).toBe(revision);
  });

  it('stores a session that exists in memory only', async () => {
    const { core, store } = testCore({ rigs: [new ScriptedRig()] });
    const id = randomUUID();
    await core.touch(created(id));
    await core.archiveSession(id, true);
    expect(await store.loadTail(id, 0)).toMatchObject({ session: { archived: true } });
  });

  it('refuses unknown and deleted sessions', async () => {
    const { core } = testCore({ rigs: [new ScriptedRig()] });
    const id = randomUUID();
    await expect(core.archiveSession(id, true)).rejects.toMatchObject({ reason: 'not_found' });
    await core.createSession({ sessionId: id });
    await core.deleteSession(id);
    await expect(core.archiveSession(id, true)).rejects.toMatchObject({ reason: 'not_found' });
  });
});
