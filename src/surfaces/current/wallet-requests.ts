import { handle } from '../../http/validation/input.js';
import type { Route } from '../../http/routing/route.js';
import type { SessionApi, WalletRequestApi } from '../../core/api.js';
import { sentByHeader } from '../shared/session.js';
import { simulationReport, simulationRequest } from '../shared/simulation.js';
import { systemMessage } from '../shared/system-messages.js';
import { endpoint } from './endpoint.js';
import * as input from './input.js';

/** The routes for the clients of wallets: what a wallet reports, and the simulation of a batch. */
export function walletRequestRoutes(core: WalletRequestApi & Pick<SessionApi, 'touch'>): readonly Route[] {
  return [
    endpoint(
      'POST',
      '/api/system',
      handle(input.reportSystem, async ({ sessionId, message }, _req, res) => {
        res.json(systemMessage(await core.report(sentByHeader(sessionId), message)));
      }),
    ),
    endpoint(
      'POST',
      '/api/simulate',
      handle(input.simulate, async ({ sessionId, ...asked }, _req, res) => {
        const report = await core.simulate(simulationRequest(sessionId, asked));
        await core.touch(sentByHeader(sessionId));
        res.json(simulationReport(report));
      }),
    ),
  ];
}
