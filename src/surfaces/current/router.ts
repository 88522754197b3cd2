import type { Route } from '../../http/routes.js';
import { healthProbe } from '../health.js';
import type { SurfaceParts } from '../parts.js';
import { chatRoutes } from './chat.js';
import { controlRoutes } from './control.js';
import { currentDialect } from './output.js';
import { secretRoutes } from './secrets.js';
import { sessionRoutes } from './sessions.js';
import { toolRoutes } from './tools.js';
import { walletRoutes } from './wallet.js';

/** The current surface: every path of `docs/surface-current.md`. */
export function currentRoutes({ core, streams, about }: SurfaceParts): readonly Route[] {
  return [
    ...sessionRoutes(core),
    ...chatRoutes(core, streams),
    ...controlRoutes(core),
    ...toolRoutes(core),
    ...secretRoutes(core),
    ...walletRoutes(core),
    healthProbe({ core, about }, currentDialect),
  ];
}
