import { setTimeout as pause } from 'node:timers/promises';
import type { Registry } from 'prom-client';

/** How closely the event loop is watched: a timer of the runtime's own, without JavaScript. */
const PRECISION_MS = 10;

let opened: Promise<Registry> | undefined;

/**
 * The usual metrics of a Node process (`process_*`, `nodejs_*`): processor, memory, descriptors, garbage collection,
 * event loop. They are the process's own, so that there is one set of them. Its package takes 33 ms to load: nobody
 * waits for that before the first scrape, from which on they are collected.
 */
export function processMetrics(): Promise<Registry> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: PRECISION_MS });
  // Without a sample the delay of the event loop reads as nonsense.
  await pause(3 * PRECISION_MS);
  return register;
}
