import type { App } from '../model/app.js';
import type { RigChoice } from '../model/rig-choice.js';
import type { Rig } from '../ports/rig.js';

/** The configured rigs, and which of them each App allows. */
export class RigRegistry {
  readonly #byId: ReadonlyMap<string, Rig>;

  /** @throws Error without any rig: the service must not start without a model */
  constructor(readonly all: readonly Rig[]) {
    if (all.length === 0) throw new Error('at least one rig is required');
    this.#byId = new Map(all.map((rig) => [rig.id, rig]));
  }

  /** Returns the rigs that an App allows, the default first. */
  allowedBy(app: App): readonly Rig[] {
    if (app.rigs === null) return this.all;
    return app.rigs.map((id) => this.#byId.get(id)).filter((rig) => rig !== undefined);
  }

  /**
   * Chooses the rig of a turn: the selected one if the App allows it, or else the App's default. `replaced`: a rig was
   * selected that the App does not allow. Undefined: no allowed rig exists.
   */
  choose(app: App, selected: string | null): { readonly rig: Rig; readonly replaced: boolean } | undefined {
    const allowed = this.allowedBy(app);
    const wanted = allowed.find(({ id }) => id === selected);
    const rig = wanted ?? allowed[0];
    return rig && { rig, replaced: selected !== null && wanted === undefined };
  }

  /** Lists the rigs that an App allows, starting with the one that the session uses. */
  listFor(app: App, selected: string | null): readonly RigChoice[] {
    const used = this.choose(app, selected)?.rig;
    const others = this.allowedBy(app).filter((rig) => rig !== used);
    return (used === undefined ? others : [used, ...others]).map(describeRig);
  }
}

/** Returns the public properties of a rig. */
export function describeRig({ id, name, provider }: Rig): RigChoice {
  return { id, name, provider };
}
