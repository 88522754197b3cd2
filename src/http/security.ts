import cors from 'cors';
import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import { HttpError } from './errors.js';
import { exchangeOf } from './exchange.js';
import { addLines, linesOf } from './guard-headers.js';
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

/** The headers that guard a browser, and those that let pages of the given origins call. */
export function guard({ corsOrigins }: Pick<HttpSettings, 'corsOrigins'>): RequestHandler {
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
  const crossing = cors({
    origin: typeof corsOrigins === 'string' ? corsOrigins : [...corsOrigins],
    methods: METHODS,
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: RESPONSE_HEADERS,
    maxAge: 86_400,
    // The route answers a preflight itself, with its `Allow`.
    preflightContinue: true,
  });
  const guardLines = linesOf([guarding]);
  // With listed origins, or on a preflight, they depend on the request.
  const openLines = corsOrigins === '*' ? linesOf([guarding, crossing]) : undefined;
  return (req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    if (openLines !== undefined && req.method !== 'OPTIONS') {
      addLines(res, openLines);
      next();
      return;
    }
    addLines(res, guardLines);
    crossing(req, res, next);
  };
}

/** For requests whose route is known. Counts requests per address and minute; over the limit they are refused with 429. Empty when there is no limit. */
export function limitRate(perMinute: number): RequestHandler[] {
  if (perMinute === 0) return [];
  const limiter = rateLimit({
    windowMs: 60_000,
    limit: perMinute,
    standardHeaders: 'draft-6',
    legacyHeaders: false,
    // Its checks write to the console and are about settings that the operator has made on purpose.
    validate: false,
    // Preflights cost nothing, and probes must be answered.
    skip: (req) => req.method === 'OPTIONS' || exchangeOf(req).route.endsWith('/health'),
    handler: (_req, res, next) => {
      const seconds = Number(res.getHeader('Retry-After') ?? 60);
      const message = `more than ${String(perMinute)} requests a minute from this address: try again in ${String(seconds)} s`;
      next(new HttpError(429, 'rate_limited', message, seconds));
    },
  });
  return [limiter];
}
