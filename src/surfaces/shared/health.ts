import type { Dialect } from '../../http/response/errors.js';
import type { Route } from '../../http/routing/route.js';
import type { HealthApi } from '../../core/api.js';
import type { SurfaceContext } from './context.js';

/** `Retry-After` in seconds while the service is not ready. */
const RETRY_AFTER = '1';

/**
 * `GET /api/health`, the readiness probe. Responds with 200 `{status: "ok", version, surfaces}`, or with 503 and
 * another status while the service refuses messages.
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

/**
 * `GET /health`, the liveness probe. Responds with the text `OK` while the process runs, whatever the state of the
 * store.
 */
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
