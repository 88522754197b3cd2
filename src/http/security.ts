import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from 'cors';
import helmet from 'helmet';
import { addLines, caching, linesOf, nameLines, setCaching } from './guard-headers.js';
import { originRule } from './origins.js';
import type { HttpSettings } from './settings.js';

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

nameLines('Vary');

/** What no route says otherwise of. */
const NO_STORE = caching('no-store');

/** The headers that guard an answer. */
export interface Guard {
  /** Sets them on the answer to a request. */
  set(req: IncomingMessage, res: ServerResponse): void;
  /** The lines of those that do not depend on the request: for an answer to one that could not be read. */
  readonly unread: string;
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
  const guardLines = linesOf([guarding]);
  // The lines of an answer to a request without `Origin`, or to any where every origin is allowed.
  const commonLines = corsOrigins === '*' ? linesOf([guarding, crossing]) : `${guardLines}Vary: Origin\r\n`;
  const set = (req: IncomingMessage, res: ServerResponse): void => {
    const isCommon = req.method !== 'OPTIONS' && (corsOrigins === '*' || req.headers.origin === undefined);
    addLines(res, isCommon ? commonLines : guardLines);
    setCaching(res, NO_STORE);
    if (isCommon) return;
    if (corsOrigins !== '*') res.setHeader('Vary', 'Origin');
    // It sets headers at once.
    crossing(req, res, refuse);
  };
  return { set, unread: commonLines + NO_STORE.line };
}

function refuse(error?: unknown): void {
  if (error !== undefined && error !== null)
    throw new Error('the headers could not be set', { cause: error });
}
