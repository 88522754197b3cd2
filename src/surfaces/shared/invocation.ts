import type { Response } from 'express';
import type { ToolApi } from '../../core/api.js';
import type { InvocationRequest } from '../../core/tools/direct-calls.js';
import { onClosed } from '../../http/connections/pending-responses.js';
import { invocation } from './shapes.js';

/** Calls a tool, and responds with its outcome unless the client has disconnected, which aborts the call. */
export async function sendInvocation(
  core: Pick<ToolApi, 'invokeTool'>,
  res: Response,
  request: Omit<InvocationRequest, 'signal'>,
): Promise<void> {
  const gone = new AbortController();
  onClosed(res, () => {
    gone.abort(new Error('The client disconnected'));
  });
  const call = await core.invokeTool({ ...request, signal: gone.signal }).catch((error: unknown) => {
    if (error !== gone.signal.reason) throw error;
  });
  if (call !== undefined) res.json(invocation(call));
}
