import { documentPath, type Described } from './openapi.js';

/**
 * Returns the script of the API reference, which the content security policy allows only as a file. It gives each visitor
 * a session and a client id of their own, so that every call can be tried at once, fills in only values that work, and
 * ends a stream after a while, because the reference shows a response when it is complete.
 */
export function tryScript(apis: readonly Described[]): string {
  const urls = apis.map((api) => ({ name: api.name, url: documentPath(api) }));
  return `'use strict';
const URLS = ${JSON.stringify(urls)};
${SCRIPT}`;
}

const SCRIPT = String.raw`
/** How long a stream is read, in milliseconds, and how much of it, in characters. */
const STREAM_MS = 5000;
const STREAM_LENGTH = 100000;
/** The optional parameters whose examples are filled in; those of others would change what the call does. */
const HELPFUL = new Map([['Prefer', 'wait=30'], ['since', 0], ['include', null]]);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let session = kept('diptych.docs.session');
const client = kept('diptych.docs.client');
let isCreated = false;
/** Deleted sessions, which the reference still shows, and the ones in their place. */
const replaced = new Map();

function randomUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Returns the id that this tab keeps under a name. */
function kept(name) {
  try {
    const stored = sessionStorage.getItem(name);
    const id = UUID.test(stored) ? stored : randomUuid();
    sessionStorage.setItem(name, id);
    return id;
  } catch {
    return randomUuid();
  }
}

/** Returns the document with examples that work for this visitor. */
function forTrying(document) {
  const copy = structuredClone(document);
  for (const [path, item] of Object.entries(copy.paths ?? {})) {
    for (const operation of Object.values(item)) {
      if (!Array.isArray(operation.security)) continue;
      for (const parameter of operation.parameters ?? []) fillIn(parameter, path);
      const media = operation.requestBody?.content?.['application/json'];
      if (media === undefined) continue;
      if (operation.requestBody.required !== true) media.example = {};
      else if (media.example?.client_id !== undefined) media.example.client_id = client;
    }
  }
  return copy;
}

function fillIn(parameter, path) {
  const { name, required } = parameter;
  if (name === 'session_id' || (name === 'id' && path.includes('/sessions/'))) parameter.example = session;
  else if (name === 'client_id' && required) parameter.example = client;
  else if (HELPFUL.has(name)) parameter.example = HELPFUL.get(name) ?? parameter.example;
  else if (!required) delete parameter.example;
}

/** Creates the session before the first call that names it. */
async function beforeRequest(request) {
  if (request.loadSpec) return request;
  for (const [before, after] of replaced) {
    request.url = request.url.replaceAll(before, after);
    for (const [name, value] of Object.entries(request.headers))
      if (value === before) request.headers[name] = after;
  }
  const isNamed = request.url.includes(session) || Object.values(request.headers).includes(session);
  if (isNamed && !isCreated) {
    const [, base = ''] = /^\/(\w+)\/api\//.exec(new URL(request.url, location.href).pathname) ?? [];
    const created = await fetch((base === '' ? '' : '/' + base) + '/api/sessions', {
      method: 'POST',
      headers: { 'X-Session-Id': session },
    });
    isCreated = created.ok;
  }
  request.userFetch = boundedFetch;
  return request;
}

async function boundedFetch(url, options) {
  const response = await fetch(url, options);
  if (options.method === 'DELETE' && response.ok && url.endsWith('/sessions/' + session)) replaceSession();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!isStream || response.body === null) return response;
  const text = await firstPart(response.body.getReader());
  return new Response(text, { status: response.status, headers: response.headers });
}

/** Reads a stream for a while. */
async function firstPart(reader) {
  const decoder = new TextDecoder();
  const timer = setTimeout(() => void reader.cancel(), STREAM_MS);
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    if (text.length > STREAM_LENGTH) await reader.cancel();
  }
  clearTimeout(timer);
  return text === '' ? ': no event came within ' + STREAM_MS / 1000 + ' seconds\n' : text;
}

function replaceSession() {
  const before = session;
  session = randomUuid();
  isCreated = false;
  for (const [old, after] of replaced) if (after === before) replaced.set(old, session);
  replaced.set(before, session);
  authorize();
}

function authorize() {
  ui.preauthorizeApiKey('session', session);
}

const ui = SwaggerUIBundle({
  dom_id: '#reference',
  urls: URLS,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [
    { statePlugins: { spec: { wrapActions: { updateJsonSpec: (next) => (document) => next(forTrying(document)) } } } },
  ],
  layout: 'StandaloneLayout',
  // Without this, Swagger UI would send the document to a public validator.
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'list',
  tryItOutEnabled: true,
  requestInterceptor: beforeRequest,
  onComplete: authorize,
});
`;
