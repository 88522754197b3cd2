import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.mjs';

const dist = (file) => fileURLToPath(new URL(`../../../dist/${file}`, import.meta.url));

/** Makes an App key for the App `desk`, as an operator does. */
export async function makeKey(env) {
  const args = [dist('cli/diptych.js'), 'keys', 'create', '--app', 'desk', '--label', 'example'];
  const child = startChild('keys create', process.execPath, args, env);
  const [key] = await child.says(/^sk-app-\S+/);
  await child.ended;
  return key;
}

/** Starts the service and waits until it listens. */
export async function startService(env) {
  const child = startChild('the service', process.execPath, [dist('main.js')], env);
  const [, url] = await child.says(/"url":"(http:[^"]+)".*"msg":"listening"/);
  return { ...child, url };
}

/** Waits until a tool is listed: those of tool servers come when the server has been connected, a moment after the start. */
export async function waitForTool(name, { url, key }) {
  const headers = { 'X-Session-Id': randomUUID(), 'SERVICE-APP-KEY': key };
  for (let tries = 0; tries < 100; tries++) {
    const response = await fetch(`${url}/current/api/tools?app=desk`, { headers });
    const { tools = [] } = await response.json();
    if (tools.some((tool) => tool.name === name)) return;
    await pause(200);
  }
  throw new Error(`there is no tool ${name} yet after 20 seconds`);
}
