import type { Dialect } from '../http/errors.js';
import type { Route } from '../http/routes.js';
import type { SurfaceParts } from './parts.js';

/** `GET /api/health` (§4.12): 200 `{status: "ok", version, surfaces}`, or 503 with another status while messages are refused. */
export function healthProbe({ core, about }: SurfaceParts, dialect: Dialect): Route {
  return {
    method: 'GET',
    path: '/api/health',
    targetsApp: false,
    dialect,
    handlers: [
      async (_req, res) => {
        const { status } = await core.health();
        res.status(status === 'ok' ? 200 : 503).json({ status, ...about });
      },
    ],
  };
}

/** `GET /health`: the same in one word of text, for probes that read no JSON. */
export function healthWord({ core }: SurfaceParts, dialect: Dialect): Route {
  return {
    method: 'GET',
    path: '/health',
    targetsApp: false,
    dialect,
    handlers: [
      async (_req, res) => {
        const { status } = await core.health();
        res.status(status === 'ok' ? 200 : 503).type('text/plain');
        res.send(status === 'ok' ? 'OK' : status);
      },
    ],
  };
}
