import { Redis } from 'ioredis';
import { channelsOf } from './wire.js';

/** Timeout of the connection attempt, and of the command, in milliseconds. */
const TIMEOUT_MS = 5_000;

/**
 * Checks that Redis responds, and lets the user publish and subscribe to the channels of a prefix.
 * @throws Error for the operator; its message does not contain the URL's password
 */
export async function checkRedis(url: string, prefix: string): Promise<void> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    retryStrategy: () => null,
    disableClientInfo: true,
  });
  let cause: Error | undefined;
  client.on('error', (error) => (cause = error));
  try {
    await client.connect();
    const { everybody, session } = channelsOf(prefix);
    const channel = `${session}check`;
    await client.publish(channel, '');
    await client.subscribe(everybody, channel);
  } catch (error) {
    const reason = cause ?? error;
    throw new Error(reason instanceof Error ? reason.message : String(reason), { cause: error });
  } finally {
    client.disconnect();
  }
}
