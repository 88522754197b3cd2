import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from 'cors';
import helmet from 'helmet';
import { addHeaders, headersOf, type HeaderList } from '../response/header-list.js';
import { originRule } from './origins.js';
import type { HttpSettings } from '../settings.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS'];

const REQUEST_HEADERS = [
  'X-Session-Id',
  'SERVICE-APP-KEY',
  'X-API-Key',
  'Content-Type',
  'Accept',
  'Prefer',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'X-Request-Id',
  'X-Wallet-Proof',
];

const RESPONSE_HEADERS = [
  'X-Event-Cursor',
  'X-Total-Messages',
  'X-Turn-Id',
  'ETag',
  'Link',
  'Preference-Applied',
  'Retry-After',
  'X-Request-Id',
  'Deprecation',
  'Sunset',
  'Allow',
  'RateLimit',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

/** Where no route says otherwise. */
const NO_STORE: HeaderList = ['Cache-Control', 'no-store'];

/** The headers that guard an answer. */
export interface Guard {
  /** Sets them on the answer to a request. */
  set(req: IncomingMessage, res: ServerResponse): void;
  /** Those that do not depend on the request: also for the response to a request that could not be read. */
  readonly common: HeaderList;
}

/** The headers that guard a browser, and those that let pages of the given origins call. */
export function guard({ corsOrigins }: Pick<HttpSettings, 'corsOrigins'>): Guard {
  const guarding = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // Whoever puts TLS in front decides for the domain.
    strictTransportSecurity: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  });
  const isAllowed = originRule(corsOrigins);
  const crossing = cors({
    origin:
      corsOrigins === '*'
        ? '*'
        : (origin, decide) => {
            decide(null, origin !== undefined && isAllowed(origin));
          },
    methods: METHODS,
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: RESPONSE_HEADERS,
    maxAge: 86_400,
    // The route answers a preflight itself, with its `Allow`.
    preflightContinue: true,
  });
  const guards = [...headersOf([guarding]), ...NO_STORE];
  // For requests without `Origin`, and for all where every origin is allowed.
  const common =
    corsOrigins === '*' ? [...headersOf([guarding, crossing]), ...NO_STORE] : [...guards, 'Vary', 'Origin'];
  const set = (req: IncomingMessage, res: ServerResponse): void => {
    const isCommon = req.method !== 'OPTIONS' && (corsOrigins === '*' || req.headers.origin === undefined);
    addHeaders(res, isCommon ? common : guards);
    if (isCommon) return;
    if (corsOrigins !== '*') res.setHeader('Vary', 'Origin');
    // It sets headers at once.
    crossing(req, res, refuse);
  };
  return { set, common };
}

function refuse(error?: unknown): void {
  if (error !== undefined && error !== null)
    throw new Error('the headers could not be set', { cause: error });
}
