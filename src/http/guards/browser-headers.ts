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

/** The default, which routes may replace. */
const NO_STORE: HeaderList = ['Cache-Control', 'no-store'];

/** The security and CORS headers of responses. */
export interface Guard {
  /** Sets the headers on the response to a request. */
  set(req: IncomingMessage, res: ServerResponse): void;
  /** The headers that do not depend on the request, also for responses to requests that could not be parsed. */
  readonly common: HeaderList;
}

/** Creates the security headers (helmet) and the CORS headers for the given origins. */
export function guard({ corsOrigins }: Pick<HttpSettings, 'corsOrigins'>): Guard {
  const guarding = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // The operator of the TLS proxy decides on HSTS for the domain.
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
    // The route handles preflights itself, with its `Allow` header.
    preflightContinue: true,
  });
  const guards = [...headersOf([guarding]), ...NO_STORE];
  // For requests without `Origin`, and for all requests when every origin is allowed.
  const common =
    corsOrigins === '*' ? [...headersOf([guarding, crossing]), ...NO_STORE] : [...guards, 'Vary', 'Origin'];
  const set = (req: IncomingMessage, res: ServerResponse): void => {
    const isCommon = req.method !== 'OPTIONS' && (corsOrigins === '*' || req.headers.origin === undefined);
    addHeaders(res, isCommon ? common : guards);
    if (isCommon) return;
    if (corsOrigins !== '*') res.setHeader('Vary', 'Origin');
    // cors sets the headers synchronously.
    crossing(req, res, refuse);
  };
  return { set, common };
}

function refuse(error?: unknown): void {
  if (error !== undefined && error !== null)
    throw new Error('the headers could not be set', { cause: error });
}
