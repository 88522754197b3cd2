import type { Route } from '../../http/routing/route.js';
import { sendInvocation } from '../shared/invocation.js';
import { tool } from '../shared/shapes.js';
import { appEndpoint, inSession, namedSession, withSession, type FieldParts } from './endpoint.js';
import * as input from './input.js';

/** The routes to list and call tools. */
export function toolRoutes(parts: FieldParts): readonly Route[] {
  const { core } = parts;
  return [
    appEndpoint(
      'POST',
      '/api/tools',
      inSession(parts, input.invokeTool, async (asked, named, _req, res) => {
        const { name, args = {}, clientId, appKey: key } = asked;
        const session = namedSession(named);
        await sendInvocation(core, res, { session, name, args, app: input.appOf(asked), key, clientId });
      }),
    ),
    appEndpoint(
      'GET',
      '/api/tools',
      withSession(parts, input.listTools, async (asked, named, _req, res) => {
        const tools = await core.listTools(input.appOf(asked), asked.appKey);
        if (named?.session !== undefined) await core.touch(named.session);
        res.json({ tools: tools.map(tool) });
      }),
    ),
  ];
}
