import { textOf } from './json.js';
import type { JsonObject, ToolProgress } from './types.js';

/** Converts a tool event, and adds what is known of its call. */
export function showTool(data: JsonObject, known?: Pick<ToolProgress, 'turnId' | 'args'>): ToolProgress {
  const status = textOf(data, 'status');
  return {
    type: 'tool',
    callId: textOf(data, 'call_id'),
    name: textOf(data, 'tool_name'),
    status: status === 'complete' || status === 'failed' ? status : 'running',
    ...known,
    ...(typeof data.message === 'string' && { message: data.message }),
    ...(typeof data.result === 'string' && { result: data.result }),
  };
}
