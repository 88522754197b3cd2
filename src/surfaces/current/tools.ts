import { onClosed } from '../../http/connections/pending-responses.js';
import { handle } from '../../http/validation/input.js';
import type { Route } from '../../http/routing/route.js';
import type { SessionApi, ToolApi } from '../../core/api.js';
import { sentByHeader } from '../shared/session.js';
import { appEndpoint } from './endpoint.js';
import * as input from './input.js';
import * as output from './output.js';

/** The routes to list and call tools. */
export function toolRoutes(core: ToolApi & Pick<SessionApi, 'touch'>): readonly Route[] {
  return [
    appEndpoint(
      'POST',
      '/api/tools',
      handle(input.invokeTool, async ({ sessionId, args, appKey, ...asked }, _req, res) => {
        const gone = new AbortController();
        onClosed(res, () => {
          gone.abort(new Error('The client disconnected'));
        });
        const session = sentByHeader(sessionId);
        const request = { ...asked, session, args: args ?? {}, key: appKey, signal: gone.signal };
        const call = await core.invokeTool(request).catch((error: unknown) => {
          if (error !== gone.signal.reason) throw error;
        });
        // Undefined when the client has disconnected.
        if (call !== undefined) res.json(output.invocation(call));
      }),
    ),
    appEndpoint(
      'GET',
      '/api/tools',
      handle(input.listTools, async ({ sessionId, app, appKey }, _req, res) => {
        const tools = await core.listTools(app, appKey);
        if (sessionId !== undefined) await core.touch(sentByHeader(sessionId));
        res.json({ tools: tools.map(output.tool) });
      }),
    ),
  ];
}
