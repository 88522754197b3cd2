import type { Route } from '../../http/routing/route.js';
import { CURRENT_KEY_HEADER, keyReader, LEGACY_KEY_HEADER } from '../shared/app-key.js';
import type { FieldSettings, SurfaceContext } from '../shared/context.js';
import { healthProbe } from '../shared/health.js';
import { accountRoutes } from './account.js';
import { chatRoutes } from './chat.js';
import { controlRoutes } from './control.js';
import type { FieldParts } from './endpoint.js';
import { IdleStreams } from './idle-streams.js';
import { fieldDialect } from './output.js';
import { secretRoutes } from './secrets.js';
import { sessionRoutes } from './sessions.js';
import { toolRoutes } from './tools.js';
import { walletRequestRoutes } from './wallet-requests.js';

/** After how many milliseconds an idle stream is closed by default. */
export const IDLE_STREAM_MS = 20_000;

const DEFAULTS: FieldSettings = {
  keyHeaders: [],
  idleStreamMs: IDLE_STREAM_MS,
  addressOf: ({ socket }) => socket.remoteAddress ?? '',
};

/** All routes of the field surface: the current surface, as its published clients use it (see `docs/clients.md`). */
export function fieldRoutes({ core, streams, about, field }: SurfaceContext): readonly Route[] {
  const { keyHeaders, idleStreamMs, addressOf } = field ?? DEFAULTS;
  const parts: FieldParts = {
    ...{ core, streams, addressOf },
    readKey: keyReader([CURRENT_KEY_HEADER, LEGACY_KEY_HEADER, ...keyHeaders]),
    idleStreams: new IdleStreams(idleStreamMs),
  };
  return [
    ...sessionRoutes(parts),
    ...chatRoutes(parts),
    ...controlRoutes(parts),
    ...toolRoutes(parts),
    ...secretRoutes(parts),
    ...walletRequestRoutes(parts),
    ...accountRoutes(),
    healthProbe({ core, about }, fieldDialect),
  ];
}
