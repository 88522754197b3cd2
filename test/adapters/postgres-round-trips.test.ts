import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from '@jest/globals';
import { openConnections } from '../../src/adapters/stores/postgres/connections.js';
import { Steps } from '../../src/adapters/stores/postgres/steps.js';
import { createStatements } from '../../src/adapters/stores/postgres/store.js';
import { PLACEHOLDER_TITLE } from '../../src/core/model/session.js';
import { closeTestCores, created, message, spoken, testCore } from '../support/core.js';
import { countedRun } from '../support/counted-run.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { ScriptedRig } from '../support/scripted-rig.js';

describeWithPostgres('the round trips to PostgreSQL', () => {
  const database = testDatabase();
  afterEach(closeTestCores);

  /** Two nodes; the statements of the first are counted. */
  async function twoNodes() {
    const url = await database.newUrl();
    const shared = await database.open({ url });
    const connections = openConnections({ url }, {});
    const { run, statements } = countedRun(connections.run);
    const steps = new Steps(run);
    const store = { ...createStatements(run, steps, undefined), close: () => connections.close() };
    const [rig, otherRig] = [new ScriptedRig(), new ScriptedRig()];
    const settings = { mirrorMs: 0 };
    const { core } = testCore({ rigs: [rig], store, settings });
    const { core: other } = testCore({ rigs: [otherRig], store: shared, settings });
    const close = async () => {
      await closeTestCores();
      await steps.settled();
      await Promise.all([connections.close(), shared.close()]);
    };
    /** Runs a turn on a node to its end, and to the title that follows the first one. */
    const turn = async (node: typeof core, of: ScriptedRig, id: string): Promise<string[]> => {
      statements.length = 0;
      const sent = await node.send(message(id, 'Hi'));
      const request = await of.next();
      const before = [...statements];
      request.text('Hello').end();
      await node.turnEnded(sent, new AbortController().signal);
      while ((await node.getSession(id)).title === PLACEHOLDER_TITLE) await new Promise(setImmediate);
      return before;
    };
    return {
      /** Runs a turn on the first node. Returns the statements before the request to the model. */
      turnHere: (id: string) => turn(core, rig, id),
      turnThere: (id: string) => turn(other, otherRig, id),
      ...{ core, statements, close },
    };
  }

  it('are two at most before the request to the model', async () => {
    const { turnHere, turnThere, close } = await twoNodes();
    try {
      const id = randomUUID();
      expect(await turnHere(id)).toEqual(['thread_head', 'write_steps']);
      // The node has the thread.
      expect(await turnHere(id)).toEqual(['write_steps']);
      // Another node has added to the thread, and this one has received no signal of it.
      await turnThere(id);
      expect(await turnHere(id)).toEqual(['write_steps', 'thread_head']);
      const foreign = randomUUID();
      await turnThere(foreign);
      expect(await turnHere(foreign)).toEqual(['thread_head', 'write_steps']);
    } finally {
      await close();
    }
  });

  it('are one for all polls that come together, of whatever sessions', async () => {
    const { core, turnHere, statements, close } = await twoNodes();
    try {
      const ids = Array.from({ length: 5 }, () => randomUUID());
      for (const id of ids) await turnHere(id);
      statements.length = 0;
      const snapshots = await Promise.all([...ids, ...ids].map(async (id) => core.snapshot(created(id))));
      for (const snapshot of snapshots) expect(spoken(snapshot)).toEqual(['user: Hi', 'assistant: Hello']);
      expect(statements).toEqual(['heads']);
    } finally {
      await close();
    }
  });
});
