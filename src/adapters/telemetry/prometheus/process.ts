import { setTimeout as pause } from 'node:timers/promises';
import type { Registry } from 'prom-client';

/** Resolution of the event loop delay, in milliseconds. Node measures it without running JavaScript. */
const PRECISION_MS = 10;

let opened: Promise<Registry> | undefined;

/**
 * Returns the default metrics of a Node process (`process_*`, `nodejs_*`): CPU, memory, descriptors, garbage collection
 * and event loop. There is one registry per process. Loads prom-client and starts to collect on the first call, so that
 * the start of the service does not wait for it.
 */
export function processMetrics(): Promise<Registry> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: PRECISION_MS });
  // Without a sample, the metrics of the event loop delay have no valid value.
  await pause(3 * PRECISION_MS);
  return register;
}
