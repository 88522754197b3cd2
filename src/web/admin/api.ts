import type { Key, KeptSecrets, LegacyReport, NewKey, Overview, SessionPage, Spent } from './wire.js';

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

/** A client of the admin API. Every method rejects with an `AdminError`. */
export class AdminApi {
  constructor(private readonly token: string) {}

  overview(span: 'hour' | 'day'): Promise<Overview> {
    return this.#ask('GET', `overview?span=${span}`);
  }

  sessions(cursor: string | null): Promise<SessionPage> {
    return this.#ask('GET', cursor === null ? 'sessions' : `sessions?cursor=${cursor}`);
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

  uses(): Promise<{ readonly uses: readonly Spent[] }> {
    return this.#ask('GET', 'uses');
  }

  secrets(): Promise<KeptSecrets> {
    return this.#ask('GET', 'secrets');
  }

  report(days: number): Promise<LegacyReport> {
    return this.#ask('GET', `report?days=${String(days)}`);
  }

  async #ask<T>(method: string, path: string, body?: object): Promise<T> {
    // Relative to this page at `…/admin`, so that it works behind a path prefix of a proxy.
    const url = new URL(`admin/api/${path}`, document.baseURI);
    const response = await fetch(url, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => {
      throw new AdminError('The service does not respond', null);
    });
    const json: unknown = await response.json().catch(() => null);
    if (!response.ok) throw new AdminError(wordsOf(json) ?? response.statusText, response.status);
    // Not validated: the service and this page are built together, and `wire.ts` describes the response.
    return json as T;
  }
}

function wordsOf(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('error' in json)) return undefined;
  return typeof json.error === 'string' ? json.error : undefined;
}
