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

/** The current surface: §4.1 to §4.12, with the additions to it. */
export function currentRoutes(parts: SurfaceParts): readonly Route[] {
  return [
    ...sessionRoutes(parts),
    ...chatRoutes(parts),
    ...controlRoutes(parts),
    ...toolRoutes(parts),
    ...secretRoutes(parts),
    ...walletRoutes(parts),
    healthProbe(parts, currentDialect),
  ];
}
