import { randomUUID } from 'node:crypto';
import type { Route } from '../../http/routing/route.js';
import { simulationReport, simulationRequest } from '../shared/simulation.js';
import { systemMessage } from '../shared/system-messages.js';
import { endpoint, inSession, withSession, type FieldParts } from './endpoint.js';
import * as input from './input.js';

/** The routes for the clients of wallets: what a wallet reports, and the simulation of a batch. */
export function walletRequestRoutes(parts: FieldParts): readonly Route[] {
  const { core } = parts;
  return [
    endpoint(
      'POST',
      '/api/system',
      inSession(parts, input.reportSystem, async ({ message, clientId }, { session }, _req, res) => {
        const unstored = { content: message, at: Date.now() };
        const taken = session === undefined ? unstored : await core.report(session, message, clientId);
        res.json(systemMessage(taken));
      }),
    ),
    endpoint(
      'POST',
      '/api/simulate',
      withSession(parts, input.simulate, async ({ transactions, from, chainId }, named, _req, res) => {
        // Without a session, no wallet is found under the id, so that `from` is required.
        const sessionId = named?.session?.id ?? randomUUID();
        const report = await core.simulate(simulationRequest(sessionId, { transactions, from, chainId }));
        if (named?.session !== undefined) await core.touch(named.session);
        res.json(simulationReport(report));
      }),
    ),
  ];
}
