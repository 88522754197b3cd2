import { handle } from '../../http/validation/input.js';
import type { Route } from '../../http/routing/route.js';
import type { SessionApi, ToolApi } from '../../core/api.js';
import { sentByHeader, touchByHeader } from '../shared/session.js';
import { appEndpoint } from './endpoint.js';
import * as input from './input.js';
import { sendInvocation } from '../shared/invocation.js';
import { tool } from '../shared/shapes.js';

/** The routes to list and call tools. */
export function toolRoutes(core: ToolApi & Pick<SessionApi, 'touch'>): readonly Route[] {
  return [
    appEndpoint(
      'POST',
      '/api/tools',
      handle(input.invokeTool, async ({ sessionId, args, appKey, ...asked }, _req, res) => {
        const session = sentByHeader(sessionId);
        await sendInvocation(core, res, { ...asked, session, args: args ?? {}, key: appKey });
      }),
    ),
    appEndpoint(
      'GET',
      '/api/tools',
      handle(input.listTools, async ({ sessionId, app, appKey }, _req, res) => {
        const tools = await core.listTools(app, appKey);
        await touchByHeader(core, sessionId);
        res.json({ tools: tools.map(tool) });
      }),
    ),
  ];
}
