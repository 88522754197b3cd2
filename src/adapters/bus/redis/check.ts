import { Redis } from 'ioredis';

/** How long a connection and an answer may take, in milliseconds. */
const PATIENCE_MS = 5_000;

/** Resolves when Redis answers. @throws Error in words for the operator, without the URL's password */
export async function checkRedis(url: string): Promise<void> {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
    retryStrategy: () => null,
    disableClientInfo: true,
  });
  let cause: Error | undefined;
  client.on('error', (error) => (cause = error));
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    const reason = cause ?? error;
    throw new Error(reason instanceof Error ? reason.message : String(reason), { cause: error });
  } finally {
    client.disconnect();
  }
}
