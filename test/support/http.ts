import type { Server } from 'node:http';
import type { App } from '../../src/core/model/app.js';
import type { Core } from '../../src/core/api.js';
import type { Log } from '../../src/core/ports/log.js';
import type { Rig } from '../../src/core/ports/rig.js';
import type { Tool } from '../../src/core/ports/tool.js';
import type { CoreSettings } from '../../src/core/model/settings.js';
import { createHttpServer, type HttpServer } from '../../src/http/server.js';
import type { HttpSettings } from '../../src/http/settings.js';
import { requestObservers, type RequestObserver } from '../../src/http/observer.js';
import { pageRoutes } from '../../src/http/pages/pages.js';
import { referencePages } from '../../src/pages/reference.js';
import type { LegacySettings } from '../../src/surfaces/shared/deprecation.js';
import {
  createRouter,
  listDescriptions,
  type RootPages,
  type RootSurface,
  type SurfaceName,
} from '../../src/surfaces/index.js';
import { createMemoryStore } from './memory-store/store.js';
import type { Store } from '../../src/core/ports/store.js';
import { testDatabase } from './postgres.js';
import { openTestSqlite } from './sqlite.js';
import { tapAnswers } from './openapi/tap.js';
import { testApp, testCore, type TestCore } from './core.js';
import { ScriptedRig } from './scripted-rig.js';

export const TEST_HTTP: HttpSettings = {
  corsOrigins: '*',
  isLocal: false,
  maxConnections: null,
  rateLimit: 0,
  streamLimit: 0,
  trustProxy: false,
  keepAliveMs: 15_000,
  version: '1.2.3',
};

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

export interface TestServer {
  readonly url: string;
  readonly http: HttpServer;
  /** Sends a request and reads its answer. A body that is not text is sent as JSON. */
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  /** @throws Error when any answer was not as the OpenAPI documents say */
  close(): Promise<void>;
}

export interface AskOptions {
  readonly session?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

/** Serves a core on a free port. */
export async function serveCore(
  core: Core,
  options: {
    surfaces?: readonly SurfaceName[];
    http?: Partial<HttpSettings>;
    pages?: readonly RootPages[];
    legacy?: LegacySettings;
    root?: RootSurface;
    field?: Parameters<typeof createRouter>[0]['field'];
    requests?: readonly RequestObserver[];
    log: Log;
  },
): Promise<TestServer> {
  const settings = { ...TEST_HTTP, ...options.http };
  const {
    surfaces = ['current', 'legacy'],
    pages = [],
    legacy,
    root = 'merged',
    field,
    requests = [],
  } = options;
  const observer = requestObservers(requests);
  const reference = referencePages(listDescriptions({ version: settings.version, surfaces, root }));
  const routed = createRouter({
    ...{ core, surfaces, root, http: settings, observer },
    pages: [(dialect) => pageRoutes(reference, dialect), ...pages],
    ...(legacy && { legacy }),
    ...(field && { field }),
  });
  const http = createHttpServer({ ...routed, log: options.log, http: settings, observer });
  const tap = tapAnswers(http.server, surfaces, root);
  const url = await listen(http.server);
  return {
    url,
    http,
    ask: (method, path, asked) => ask(url, method, path, asked),
    async close() {
      await http.close(0);
      tap.verify();
    },
  };
}

const stores: Record<string, (() => Promise<Store>) | undefined> = {
  memory: () => Promise.resolve(createMemoryStore()),
  sqlite: () => openTestSqlite(),
  postgres: process.env.TEST_STORE === 'postgres' ? openFrom(testDatabase()) : undefined,
};

function openFrom(database: ReturnType<typeof testDatabase>): () => Promise<Store> {
  return () => database.open();
}

/** Opens the store that the surfaces are tested over: `TEST_STORE` names `memory`, `sqlite` or `postgres`. */
export async function openStore(byDefault: 'memory' | 'sqlite'): Promise<Store> {
  const open = stores[process.env.TEST_STORE ?? byDefault];
  if (open === undefined) throw new Error(`TEST_STORE must be one of ${Object.keys(stores).join(', ')}`);
  return open();
}

/** A served core with a scripted rig: the test says what the assistant says. */
export async function serveScripted(
  options: {
    surfaces?: readonly SurfaceName[];
    http?: Partial<HttpSettings>;
    legacy?: LegacySettings;
    root?: RootSurface;
    field?: Parameters<typeof createRouter>[0]['field'];
    apps?: readonly App[];
    tools?: readonly Tool[];
    rigs?: readonly Rig[];
    settings?: Partial<CoreSettings>;
  } = {},
): Promise<TestServer & TestCore & { readonly rig: ScriptedRig }> {
  const rig = new ScriptedRig();
  const store = await openStore('memory');
  const parts = testCore({
    store,
    rigs: [rig, ...(options.rigs ?? [])],
    apps: options.apps ?? [testApp()],
    tools: options.tools ?? [],
    settings: options.settings ?? {},
  });
  const server = await serveCore(parts.core, { ...options, log: parts.log });
  return {
    ...parts,
    ...server,
    rig,
    async close() {
      try {
        await server.close();
      } finally {
        await parts.core.close();
        await store.close();
      }
    },
  };
}

async function ask(url: string, method: string, path: string, options: AskOptions = {}): Promise<Answer> {
  const { session, headers = {}, body } = options;
  const response = await fetch(url + path, {
    method,
    headers: { ...(session === undefined ? {} : { 'X-Session-Id': session }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json; charset=utf-8';
  const json: unknown = isJson && text !== '' ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, json };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${String(address.port)}`;
}
