import type { Route } from '../../http/routing/route.js';
import { healthProbe } from '../shared/health.js';
import type { SurfaceContext } from '../shared/context.js';
import { chatRoutes } from './chat.js';
import { controlRoutes } from './control.js';
import { currentDialect } from './output.js';
import { providerKeyRoutes } from './provider-keys.js';
import { secretRoutes } from './secrets.js';
import { sessionRoutes } from './sessions.js';
import { toolRoutes } from './tools.js';
import { walletRoutes } from './wallet.js';
import { walletRequestRoutes } from './wallet-requests.js';

/** All routes of the current surface (see `docs/surface-current.md`). */
export function currentRoutes({ core, streams, about }: SurfaceContext): readonly Route[] {
  return [
    ...sessionRoutes(core),
    ...chatRoutes(core, streams),
    ...controlRoutes(core),
    ...providerKeyRoutes(core),
    ...toolRoutes(core),
    ...secretRoutes(core),
    ...walletRoutes(core),
    ...walletRequestRoutes(core),
    healthProbe({ core, about }, currentDialect),
  ];
}
