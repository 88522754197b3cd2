/** The responses of the admin API. Times are ISO 8601; durations are in milliseconds. */

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

export interface Point {
  readonly at: string;
  readonly complete: number;
  readonly interrupted: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly first_text_ms: Percentiles | null;
  readonly duration_ms: Percentiles | null;
}

export interface OpenTurn {
  readonly turn_id: string;
  readonly session: string;
  readonly session_id: string;
  readonly status: 'queued' | 'running';
  readonly app: string;
  readonly key_id: string | null;
  readonly attempt: number;
  readonly created_at: string;
}

export interface Failure {
  readonly at: string;
  readonly turn_id: string;
  /** Null, like `session_id`, if the session was deleted. */
  readonly session: string | null;
  readonly session_id: string | null;
  readonly app: string;
  readonly rig: string | null;
  /** The message that the user received. */
  readonly error: string | null;
  /** Why the model request failed, in the provider's words. */
  readonly reason: string | null;
}

export interface Overview {
  readonly status: string;
  readonly started_at: string;
  readonly running: number;
  readonly queued: number;
  readonly turns: readonly OpenTurn[];
  readonly sessions: { readonly hour: number; readonly day: number; readonly most: number };
  readonly points: readonly Point[];
  readonly failures: readonly Failure[];
  readonly apps: readonly string[];
}

export interface SessionRow {
  /** The name of the session in the log. */
  readonly session: string;
  readonly session_id: string;
  readonly title: string;
  readonly public_key: string | null;
  readonly app: string | null;
  readonly rig: string | null;
  readonly updated_at: string;
}

export interface SessionPage {
  readonly sessions: readonly SessionRow[];
  readonly next: string | null;
}

/** A session with a message that has the text of a search. */
export interface FoundRow extends SessionRow {
  readonly role: string;
  /** A part of the message. */
  readonly excerpt: string;
}

export interface FoundPage {
  readonly sessions: readonly FoundRow[];
  readonly next: string | null;
}

export interface ToolCallRow {
  readonly call_id: string;
  readonly name: string;
  readonly args: unknown;
}

export interface ToolResultRow {
  readonly call_id: string;
  readonly name: string;
  readonly result: unknown;
  /** Present only if the call failed. */
  readonly status?: 'failed';
}

export interface MessageRow {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly tool_calls: readonly ToolCallRow[] | null;
  readonly tool_results: readonly ToolResultRow[] | null;
  readonly created_at: string;
}

/** A part of a conversation, in order. */
export interface Conversation extends SessionRow {
  readonly messages: readonly MessageRow[];
  readonly has_more: boolean;
}

export interface Key {
  readonly id: string;
  readonly apps: readonly string[];
  readonly label: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly created_at: string;
  readonly expires_at: string | null;
}

export interface NewKey {
  readonly id: string;
  readonly key: string;
}

export interface Spent {
  readonly kind: string;
  readonly id: string;
  /** The name of the session in the log; null: a key. */
  readonly session: string | null;
  readonly measure: string;
  readonly window_from: string;
  readonly amount: number;
  readonly limit: number | null;
}

/** The turns and tokens of an App and key. */
export interface Work {
  readonly app: string;
  readonly key_id: string | null;
  readonly key_label: string | null;
  readonly turns: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** The storage used by secrets, in bytes of sealed values, names and rows. `max_bytes` is the limit per App. */
export interface KeptSecrets {
  readonly apps: readonly { readonly app: string; readonly secrets: number; readonly bytes: number }[];
  readonly max_bytes: number;
}

export interface LegacyReport {
  readonly at: string;
  readonly days: number;
  readonly counting_since: string | null;
  readonly last_used_at: string | null;
  readonly users: readonly {
    readonly name: string;
    readonly requests: number;
    readonly first_at: string;
    readonly last_at: string;
    readonly endpoints: readonly { readonly endpoint: string; readonly requests: number }[];
  }[];
  readonly history: readonly { readonly day: string; readonly current: number; readonly legacy: number }[];
  readonly verdict: { readonly kind: 'used' | 'unused' | 'too_early'; readonly text: string };
}
