import type { Access } from '../access/app-access.js';
import type { RigRegistry } from '../rigs/rig-registry.js';
import type { SessionCache } from './session-cache.js';
import { DEFAULT_APP, type App } from '../model/app.js';
import type { RigChoice } from '../model/rig-choice.js';
import type { SessionRef, Session } from '../model/session.js';
import { RefusedError } from '../model/refusal.js';
import type { Sessions } from './sessions.js';

/** The dependencies of `RigSelection`. */
export interface RigSelectionParts {
  readonly access: Access;
  readonly apps: ReadonlyMap<string, App>;
  readonly rigs: RigRegistry;
  readonly threads: SessionCache;
}

/** Lists the rigs that a session may use, and selects one. */
export class RigSelection {
  constructor(
    private readonly parts: RigSelectionParts,
    private readonly sessions: Sessions,
  ) {}

  async listRigs(request: {
    session?: SessionRef | undefined;
    app?: string | undefined;
    key: string | undefined;
  }): Promise<readonly RigChoice[]> {
    const authorized =
      request.app === undefined ? undefined : await this.parts.access.authorize(request.app, request.key);
    const session =
      request.session === undefined ? null : (await this.parts.threads.open(request.session)).session;
    return this.parts.rigs.listFor(authorized ?? this.#appOf(session), session?.rig ?? null);
  }

  async selectRig(request: {
    session: SessionRef;
    rig: string;
    app?: string | undefined;
    key: string | undefined;
    parameter?: string;
  }): Promise<{ created: boolean }> {
    const authorized =
      request.app === undefined ? undefined : await this.parts.access.authorize(request.app, request.key);
    const thread = await this.parts.threads.openForWrite(request.session);
    const allowed = this.parts.rigs.allowedBy(authorized ?? this.#appOf(thread.session)).map(({ id }) => id);
    if (!allowed.includes(request.rig)) {
      const message = `The model ${JSON.stringify(request.rig)} cannot be selected here; choose one of: ${allowed.join(', ')}`;
      const path = request.parameter ?? 'rig';
      throw new RefusedError('invalid', message, [{ path, message: 'is not an available model' }]);
    }
    const { created } = await this.sessions.write(request.session, () => ({
      set: { rig: request.rig },
      isActivity: false,
    }));
    return { created };
  }

  /**
   * The App of a session: the last one used, else the default. No App key is required: the session id is the
   * capability.
   */
  #appOf(session: Session | null): App {
    const last = this.parts.apps.get(session?.app ?? DEFAULT_APP) ?? this.parts.apps.get(DEFAULT_APP);
    if (last === undefined) throw new Error('The App default is missing');
    return last;
  }
}
