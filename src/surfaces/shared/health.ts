import type { Dialect } from '../../http/response/errors.js';
import type { Route } from '../../http/routing/route.js';
import type { HealthApi } from '../../core/api.js';
import type { SurfaceContext } from './context.js';

/** When to ask again while it is not ready, in seconds. */
const RETRY_AFTER = '1';

/**
 * `GET /api/health`, the readiness probe: 200 `{status: "ok", version, surfaces}`, or 503 with another status while
 * messages are refused.
 */
export function healthProbe(
  { core, about }: Pick<SurfaceContext, 'about'> & { readonly core: HealthApi },
  dialect: Dialect,
): Route {
  return {
    method: 'GET',
    path: '/api/health',
    targetsApp: false,
    dialect,
    handlers: [
      async (_req, res) => {
        const { status } = await core.health();
        if (status !== 'ok') res.setHeader('Retry-After', RETRY_AFTER);
        res.status(status === 'ok' ? 200 : 503).json({ status, ...about });
      },
    ],
  };
}

/** `GET /health`, the liveness probe: the text `OK` for as long as the process answers, whatever the store does. */
export function healthWord(dialect: Dialect): Route {
  return {
    method: 'GET',
    path: '/health',
    targetsApp: false,
    dialect,
    handlers: [
      (_req, res) => {
        res.type('text/plain').send('OK');
      },
    ],
  };
}
