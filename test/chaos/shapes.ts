import { z } from 'zod';

const ToolResult = z.tuple([z.string(), z.string()]);

const ShownMessage = z.strictObject({
  sender: z.enum(['user', 'agent', 'system']),
  content: z.string(),
  timestamp: z.iso.datetime(),
  is_streaming: z.boolean(),
  tool_result: ToolResult.nullable(),
});
export type ShownMessage = z.infer<typeof ShownMessage>;

/** A session snapshot of `GET /api/state`. */
export const Snapshot = z.strictObject({
  messages: z.array(ShownMessage),
  system_events: z.array(z.record(z.string(), z.string())),
  title: z.string(),
  is_processing: z.boolean(),
  user_state: z.null(),
});
export type Snapshot = z.infer<typeof Snapshot>;

/** The response of `GET /api/thread/state`. */
export const LegacyState = z.strictObject({
  session_id: z.string(),
  status: z.enum(['idle', 'processing', 'interrupted']),
  messages: z.array(ShownMessage),
  user_state: z.object({}),
});

/** A record of `GET /api/sessions/{id}/messages`. */
const StoredRecord = z.strictObject({
  id: z.string(),
  session_id: z.string(),
  thread_id: z.string(),
  role: z.enum(['user', 'assistant', 'system']),
  content: z.string(),
  tool_calls: z
    .array(z.strictObject({ call_id: z.string(), name: z.string(), args: z.record(z.string(), z.unknown()) }))
    .nullable(),
  tool_results: z
    .array(
      z.strictObject({
        call_id: z.string(),
        name: z.string(),
        result: z.unknown(),
        status: z.literal('failed').optional(),
      }),
    )
    .nullable(),
  created_at: z.iso.datetime(),
});
export type StoredRecord = z.infer<typeof StoredRecord>;

export const RecordPage = z.strictObject({ messages: z.array(StoredRecord), has_more: z.boolean() });

/** An event of `GET /api/updates`. */
export const UpdateEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('title_changed'), session_id: z.string(), new_title: z.string() }),
  ...(['tool_update', 'tool_complete'] as const).map((type) =>
    z.strictObject({
      type: z.literal(type),
      session_id: z.string(),
      id: z.string(),
      call_id: z.string(),
      tool_name: z.string(),
      name: z.string(),
      status: z.enum(['running', 'complete', 'failed']),
      message: z.string().optional(),
      result: z.string().optional(),
    }),
  ),
  z.strictObject({ type: z.literal('system_notice'), session_id: z.string(), message: z.string() }),
  z.strictObject({ type: z.literal('gap'), session_id: z.string(), from: z.number(), to: z.number() }),
  z.strictObject({ type: z.literal('turn_started'), session_id: z.string(), turn_id: z.string() }),
  z.strictObject({
    type: z.literal('text_delta'),
    session_id: z.string(),
    turn_id: z.string(),
    content: z.string(),
    offset: z.number(),
  }),
  z.strictObject({
    type: z.literal('turn_ended'),
    session_id: z.string(),
    turn_id: z.string(),
    status: z.enum(['complete', 'interrupted', 'failed']),
  }),
]);
export type UpdateEvent = z.infer<typeof UpdateEvent>;

/** An event of `POST /api/thread/chat`. */
export const ChatEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), content: z.string() }),
  z.strictObject({
    type: z.literal('tool_call'),
    name: z.string(),
    call_id: z.string(),
    args: z.record(z.string(), z.unknown()),
  }),
  ...(['tool_result', 'async_tool_result'] as const).map((type) =>
    z.strictObject({
      type: z.literal(type),
      call_id: z.string(),
      name: z.string(),
      result: z.unknown(),
    }),
  ),
  z.strictObject({ type: z.literal('complete') }),
  z.strictObject({ type: z.literal('error'), message: z.string() }),
]);

/** Parses JSON; undefined when it is none or of another shape. */
export function read<T>(shape: z.ZodType<T>, text: string): T | undefined {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
