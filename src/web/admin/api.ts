import type {
  Conversation,
  FoundPage,
  Key,
  KeptSecrets,
  LegacyReport,
  NewKey,
  Overview,
  SessionPage,
  Spent,
  Work,
} from './wire.js';

/** The error of a request that was refused or got no response. `message` is shown to the operator. */
export class AdminError extends Error {
  override readonly name = 'AdminError';

  constructor(
    message: string,
    /** The HTTP status; null without a response. */
    readonly status: number | null,
  ) {
    super(message);
  }
}

/** Time to wait for a response, in milliseconds. An export, which can be long, may take longer. */
const TIMEOUT_MS = 20_000;

/** A client of the admin API. Every method rejects with an `AdminError`. */
export class AdminApi {
  /** @param onRefused called when the service does not accept the token */
  constructor(
    private readonly token: string,
    private readonly onRefused: () => void = () => undefined,
  ) {}

  overview(span: 'hour' | 'day'): Promise<Overview> {
    return this.#ask('GET', `overview?span=${span}`);
  }

  /** @param query empty: all sessions */
  sessions(query: string, cursor: string | null): Promise<SessionPage> {
    const params = new URLSearchParams({
      ...(query !== '' && { q: query }),
      ...(cursor !== null && { cursor }),
    });
    return this.#ask('GET', `sessions?${params.toString()}`);
  }

  /** Finds sessions by the text of their messages. The service logs what was found. */
  search(text: string, cursor: string | null): Promise<FoundPage> {
    const params = new URLSearchParams({ q: text, ...(cursor !== null && { cursor }) });
    return this.#ask('GET', `search?${params.toString()}`);
  }

  /** @param before the id of the message before which to read; null: the last messages */
  conversation(sessionId: string, before: string | null): Promise<Conversation> {
    return this.#ask('GET', `sessions/${sessionId}/messages${before === null ? '' : `?before=${before}`}`);
  }

  /** Reads an export as a file. */
  async exported(sessionId: string, format: 'json' | 'markdown'): Promise<Blob> {
    return (await this.#send('GET', `sessions/${sessionId}/export?format=${format}`)).blob();
  }

  interrupt(sessionId: string): Promise<{ readonly interrupted: boolean }> {
    return this.#ask('POST', `sessions/${sessionId}/interrupt`);
  }

  async deleteSession(sessionId: string): Promise<void> {
    await this.#ask('DELETE', `sessions/${sessionId}`);
  }

  keys(): Promise<{ readonly keys: readonly Key[] }> {
    return this.#ask('GET', 'keys');
  }

  createKey(asked: { apps: readonly string[]; label: string; days: number | null }): Promise<NewKey> {
    const { apps, label, days } = asked;
    return this.#ask('POST', 'keys', { apps, label, ...(days !== null && { expires_in_days: days }) });
  }

  async revokeKey(id: string): Promise<void> {
    await this.#ask('DELETE', `keys/${id}`);
  }

  uses(days: number): Promise<{ readonly uses: readonly Spent[]; readonly work: readonly Work[] }> {
    return this.#ask('GET', `uses?days=${String(days)}`);
  }

  secrets(): Promise<KeptSecrets> {
    return this.#ask('GET', 'secrets');
  }

  report(days: number): Promise<LegacyReport> {
    return this.#ask('GET', `report?days=${String(days)}`);
  }

  async #ask<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await this.#send(method, path, body, AbortSignal.timeout(TIMEOUT_MS));
    // Not validated: the service and this page are built together, and `wire.ts` describes the response.
    return (await response.json().catch(failWithoutResponse)) as T;
  }

  /** @throws AdminError unless the response is a success */
  async #send(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
    // Relative to this page at `…/admin`, so that it works behind a path prefix of a proxy.
    const url = new URL(`admin/api/${path}`, document.baseURI);
    const response = await fetch(url, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    }).catch(failWithoutResponse);
    if (response.ok) return response;
    const { status } = response;
    if (status === 401) this.onRefused();
    const json: unknown = await response.json().catch(() => null);
    // Not `statusText`, which HTTP/2 does not have.
    throw new AdminError(wordsOf(json) ?? `The response has status ${String(status)} and no message`, status);
  }
}

function failWithoutResponse(): never {
  throw new AdminError('The service does not respond', null);
}

function wordsOf(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('error' in json)) return undefined;
  return typeof json.error === 'string' ? json.error : undefined;
}
