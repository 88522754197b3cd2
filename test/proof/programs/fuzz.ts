/** Sends a running service anything that a stranger can send, and checks that each request has a proper response. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Random } from '../../chaos/random.js';
import { anyRequest, faultOf, sendAny } from '../../support/any-request.js';
import { sayScript, startUpstream } from '../../support/upstream.js';
import { inParallel, runProgram } from '../outcome.js';
import { startService } from '../service.js';

const ABOUT = 'Sends fuzzed requests to all surfaces.';
const WIDTH = 16;
/** Requests that are generated at once. */
const BATCH = 2_000;

await runProgram({ about: ABOUT, count: 1_000_000 }, async (run) => {
  const upstream = await startUpstream();
  upstream.always(sayScript('Yes.'));
  const service = await startService({
    ...{ directory: run.directory, upstream: upstream.url, nodes: 1 },
    env: { SURFACES: 'current,legacy,field', LOG_LEVEL: 'error' },
  });
  const [base] = service.urls;
  const random = new Random(run.seed, 'fuzz');
  const statuses = new Map<number, number>();
  for (let sent = 0; sent < run.count; sent += BATCH) {
    const seed = random.integer(0, 0x7fffffff);
    const requests = fc.sample(anyRequest, { seed, numRuns: Math.min(BATCH, run.count - sent) });
    await inParallel(requests.length, WIDTH, async (n) => {
      const request = requests[n];
      if (request === undefined) return;
      const shown = `${String(seed)}, ${String(n)}: ${request.method} ${request.path.slice(0, 300)}`;
      try {
        const response = await sendAny(base, request);
        const fault = faultOf(request, response);
        if (fault !== undefined) run.fault(`${shown}: ${fault}`);
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      } catch (error) {
        run.fault(`${shown}: ${error instanceof Error ? error.message : String(error)}`);
      }
    });
  }
  const spoken = await sendAny(base, {
    ...{ method: 'POST', path: '/api/chat?message=Hello', body: '' },
    headers: { 'X-Session-Id': randomUUID(), Prefer: 'wait=30' },
  });
  if (!spoken.text.includes('Yes.')) run.fault(`the last turn got ${String(spoken.status)} ${spoken.text}`);
  for (const end of await service.stop()) run.fault(`the service ended with ${end}`);
  await upstream.close();
  const byStatus = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => [`status ${String(status)}`, times] as const);
  return { counts: Object.fromEntries([['requests', run.count], ...byStatus]) };
});
