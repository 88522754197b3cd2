import type { Client, HistoryPage } from './types.js';

/** Reads the last `limit` stored messages as one page. The service ends a page early when its messages are long. */
export async function lastPage(
  client: Pick<Client, 'historyPage'>,
  limit: number,
  signal: AbortSignal | undefined,
  before?: string,
): Promise<HistoryPage> {
  const page = await client.historyPage({ limit, before, signal });
  const [first] = page.messages;
  const rest = limit - page.messages.length;
  if (!page.hasMore || first === undefined || rest < 1) return page;
  const { messages, turns, hasMore } = await lastPage(client, rest, signal, first.id);
  return { messages: [...messages, ...page.messages], turns: [...turns, ...page.turns], hasMore };
}
