import type { Client, HistoryPage } from './types.js';

/** Reads the last `limit` stored messages as one page. The service ends a page early when its messages are long. */
export async function lastPage(
  client: Pick<Client, 'historyPage'>,
  limit: number,
  signal?: AbortSignal,
): Promise<HistoryPage> {
  let whole = await client.historyPage({ limit, signal });
  while (whole.hasMore && whole.messages.length > 0 && whole.messages.length < limit) {
    const [first] = whole.messages;
    const rest = limit - whole.messages.length;
    const earlier = await client.historyPage({ limit: rest, before: first?.id, signal });
    whole = {
      messages: [...earlier.messages, ...whole.messages],
      turns: [...earlier.turns, ...whole.turns],
      hasMore: earlier.hasMore && earlier.messages.length > 0,
    };
  }
  return whole;
}
