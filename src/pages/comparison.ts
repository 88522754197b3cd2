import type { Described } from './openapi.js';

/** What a caller wants to do, and the operation for it on each surface; null: the surface has none. */
export interface Task {
  readonly task: string;
  readonly current: string | null;
  readonly legacy: string | null;
}

/** By `operationId`, in the order of a session's life. */
export const TASKS: readonly Task[] = [
  { task: 'Create a session', current: 'createSession', legacy: 'createSession' },
  { task: 'Read a session', current: 'getSession', legacy: 'nameSession' },
  { task: 'List the threads of a wallet', current: 'listThreads', legacy: 'nameSession' },
  { task: 'Rename a thread', current: 'renameSession', legacy: null },
  { task: 'Delete a thread', current: 'deleteSession', legacy: null },
  { task: 'Archive a thread', current: 'archiveSession', legacy: null },
  { task: 'Send a message', current: 'sendMessage', legacy: 'sendMessage' },
  { task: 'Read the state', current: 'readState', legacy: 'readState' },
  { task: 'Interrupt the reply', current: 'interrupt', legacy: 'interrupt' },
  { task: 'Follow a session', current: 'subscribe', legacy: 'subscribe' },
  { task: 'Read the stored messages', current: 'readMessages', legacy: null },
  { task: 'List the models', current: 'listModels', legacy: 'listModels' },
  { task: 'Select a model', current: 'selectModel', legacy: 'selectModel' },
  { task: 'List the Apps', current: 'listApps', legacy: 'listApps' },
  { task: 'Call a tool', current: 'invokeTool', legacy: null },
  { task: 'Store the secrets of an App', current: 'storeSecrets', legacy: null },
  { task: 'Report for a wallet', current: 'reportSystem', legacy: null },
  { task: 'Check the service', current: 'readHealth', legacy: 'readHealth' },
];

/** What holds for all calls of a surface. */
const GENERAL = [
  ['Base URL of this surface alone', '<code>/current/api</code>', '<code>/legacy/api</code>'],
  [
    'Session',
    '<code>X-Session-Id</code>',
    '<code>X-Session-Id</code>, or <code>session_id</code> in the query',
  ],
  ['App key', '<code>SERVICE-APP-KEY</code>', '<code>X-API-Key</code>'],
  ['Parameters', 'in the query', 'in the query, and a JSON body'],
  ['A reply', 'by state and updates, after the response', 'as the response, a stream'],
  ['Errors', '<code>{error, code, request_id, details?}</code>', '<code>{error}</code>'],
] as const;

/** Creates the HTML that shows both surfaces side by side, from their OpenAPI documents. */
export async function comparison(current: Described, legacy: Described): Promise<string> {
  const described = await Promise.all([current.describe(), legacy.describe()]);
  const [ofCurrent, ofLegacy] = [operationsIn(described[0]), operationsIn(described[1])];
  const rows = TASKS.map((task) =>
    row(task.task, callOf('current', ofCurrent, task.current), callOf('legacy', ofLegacy, task.legacy)),
  );
  const general = GENERAL.map(([what, here, there]) => row(what, here, there));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Diptych: both surfaces side by side</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/compare.css">
</head>
<body>
<header><h1>Both surfaces side by side</h1><p>Two APIs on one core: a session of one is a session of the other.
<a href="/docs">Try the calls in the reference</a>.</p></header>
<main>
${table('In general', general)}
${table('Call by call', rows)}
</main>
</body>
</html>
`;
}

// On narrow screens the parts of a table are blocks, which have no roles by themselves.
function table(caption: string, rows: readonly string[]): string {
  const heads = ['Current', 'Legacy'].map((name) => `<th role="columnheader" scope="col">${name}</th>`);
  return `<table role="table" aria-label="${caption}">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row"><td role="cell"></td>${heads.join('')}</tr></thead>
<tbody role="rowgroup">
${rows.join('\n')}
</tbody></table>`;
}

function row(what: string, current: string, legacy: string): string {
  return `<tr role="row"><th role="rowheader" scope="row">${what}</th>
<td role="cell" data-surface="Current">${current}</td>
<td role="cell" data-surface="Legacy">${legacy}</td></tr>`;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly operation: Readonly<Record<string, unknown>>;
}

function operationsIn(document: object): ReadonlyMap<string, Call> {
  const paths = 'paths' in document ? recordOf(document.paths) : {};
  const calls = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(recordOf(item)).flatMap(([method, value]): [string, Call][] => {
      const operation = recordOf(value);
      const id = operation.operationId;
      return typeof id === 'string' ? [[id, { method, path, operation }]] : [];
    }),
  );
  return new Map(calls);
}

function callOf(surface: string, calls: ReadonlyMap<string, Call>, id: string | null): string {
  const call = id === null ? undefined : calls.get(id);
  if (call === undefined) return '<span class="none">—</span>';
  const { method, path, operation } = call;
  const parameters = recordsIn(operation.parameters)
    .filter(({ required }) => required === true)
    .map(({ name }) => `<code>${escaped(textOf(name))}</code>`);
  const body = Object.keys(recordOf(schemaOf(operation.requestBody).properties));
  const takes = [
    ...(parameters.length > 0 ? [`takes ${parameters.join(', ')}`] : []),
    ...(body.length > 0 && recordOf(operation.requestBody).required === true
      ? [`body <code>{${escaped(body.join(', '))}}</code>`]
      : []),
    `returns ${resultOf(operation)}`,
  ];
  const [tag = ''] = Array.isArray(operation.tags) ? operation.tags.map(String) : [];
  const anchor = `/docs?urls.primaryName=${surface}#/${encodeURIComponent(tag)}/${textOf(operation.operationId)}`;
  return `<a href="${escaped(anchor)}"><code>${method.toUpperCase()} ${escaped(path)}</code></a>
<p>${escaped(textOf(operation.summary))}: ${takes.join('; ')}.</p>`;
}

/** Returns what a successful response contains. */
function resultOf(operation: Readonly<Record<string, unknown>>): string {
  const success = Object.entries(recordOf(operation.responses)).find(([status]) => status.startsWith('2'));
  const content = recordOf(recordOf(success?.[1]).content);
  if ('text/event-stream' in content) return 'an event stream';
  const [media] = Object.values(content);
  const { example } = recordOf(media);
  if (example === undefined) return 'JSON';
  const text = JSON.stringify(example);
  return `<code>${escaped(text.length > 160 ? `${text.slice(0, 160)}…` : text)}</code>`;
}

function schemaOf(body: unknown): Readonly<Record<string, unknown>> {
  return recordOf(recordOf(recordOf(recordOf(body).content)['application/json']).schema);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function recordsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** The styles of the comparison. */
export const COMPARISON_CSS = `:root {
  color-scheme: light dark;
  --paper: light-dark(#fbfaf7, #15181a);
  --line: light-dark(#dfdad0, #30363a);
  --ink: light-dark(#23211d, #e8e6e1);
  --soft: light-dark(#5d594f, #a9adab);
  --accent: light-dark(#0f6b5c, #6ccab7);
}
body {
  max-width: 76rem;
  margin: 0 auto;
  padding: 2rem 1.25rem;
  background: var(--paper);
  color: var(--ink);
  font: 0.9375rem / 1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif;
}
h1 { margin: 0; font-size: 1.5rem; }
p { margin: 0.25rem 0 0; color: var(--soft); }
a { color: var(--accent); }
table { width: 100%; margin-top: 2rem; border-collapse: collapse; table-layout: fixed; }
caption { padding-bottom: 0.5rem; font-size: 1.125rem; font-weight: 600; text-align: start; }
th, td { padding: 0.625rem 0.75rem; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; }
thead td, thead th, tbody th { font-weight: 600; }
thead td, tbody th { width: 20%; }
code { font: 0.8125rem ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; overflow-wrap: anywhere; }
.none { color: var(--soft); }
@media (max-width: 44rem) {
  table, caption, tbody, tbody tr, tbody th, tbody td { display: block; width: auto; }
  thead { display: none; }
  tbody tr { padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  tbody th, tbody td { padding: 0.25rem 0; border: 0; }
  tbody td::before { display: block; color: var(--soft); font-size: 0.75rem; font-weight: 600; content: attr(data-surface); }
}
`;
