import { textOf } from './json.js';
import type { JsonObject, ToolProgress } from './types.js';

/** Converts a tool event, and adds the arguments of its call if they are known. */
export function showTool(data: JsonObject, args: JsonObject | undefined): ToolProgress {
  const status = textOf(data, 'status');
  return {
    type: 'tool',
    callId: textOf(data, 'call_id'),
    name: textOf(data, 'tool_name'),
    status: status === 'complete' || status === 'failed' ? status : 'running',
    ...(args !== undefined && { args }),
    ...(typeof data.message === 'string' && { message: data.message }),
    ...(typeof data.result === 'string' && { result: data.result }),
  };
}
