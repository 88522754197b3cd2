import { handle } from '../../http/validation/input.js';
import type { Route } from '../../http/routing/route.js';
import type { ControlApi, SessionApi } from '../../core/api.js';
import { sentByHeader } from '../shared/session.js';
import { appEndpoint, endpoint } from './endpoint.js';
import * as input from './input.js';
import { rigList } from '../shared/rig-list.js';
import { selection } from '../shared/shapes.js';
import { appDescriptor } from './output.js';

/** The routes of models and Apps. */
export function controlRoutes(core: ControlApi & Pick<SessionApi, 'touch'>): readonly Route[] {
  return [
    appEndpoint(
      'POST',
      '/api/control/model',
      handle(input.selectModel, async ({ sessionId, rig, baml, app, appKey }, _req, res) => {
        const session = sentByHeader(sessionId);
        const { created } = await core.selectRig({ session, rig, app, key: appKey });
        res.json(selection(rig, baml, created));
      }),
    ),
    appEndpoint(
      'GET',
      '/api/control/models',
      handle(input.listModels, async ({ sessionId, app, appKey, include }, _req, res) => {
        const session = sessionId === undefined ? undefined : sentByHeader(sessionId);
        const rigs = await core.listRigs({ session, app, key: appKey });
        res.json(rigList(rigs, include));
      }),
    ),
    endpoint(
      'GET',
      '/api/control/apps',
      handle(input.listApps, async ({ sessionId, appKey }, _req, res) => {
        const apps = await core.listApps(appKey, { keyRequired: false });
        await core.touch(sentByHeader(sessionId));
        res.json(apps.map(appDescriptor));
      }),
    ),
  ];
}
