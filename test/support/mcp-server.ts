/**
 * The scripted server over stdio. Environment: `API_KEY`, its secret; `NEEDS_KEY`, end at once without one; `STUBBORN`,
 * heed neither the end of the input nor SIGTERM; `LISTS_NOTHING`; `NOISE`, write that to stderr; `CHILD`, leave a child
 * of its own.
 */
import { spawn } from 'node:child_process';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createScriptedServer } from './mcp-script.js';

const { API_KEY, NEEDS_KEY, STUBBORN, LISTS_NOTHING, NOISE, CHILD } = process.env;
if (NOISE !== undefined) console.error(NOISE);
if (NEEDS_KEY !== undefined && API_KEY === undefined) {
  console.error('API_KEY is not set');
  process.exit(1);
}
if (CHILD !== undefined) {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
  child.unref();
  console.error(`child ${String(child.pid)}`);
}
if (STUBBORN !== undefined) {
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1000);
}
const server = createScriptedServer({ secret: API_KEY, listsNothing: LISTS_NOTHING !== undefined });
await server.connect(new StdioServerTransport());
