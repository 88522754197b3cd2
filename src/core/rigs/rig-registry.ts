import type { App } from '../model/app.js';
import type { RigChoice } from '../model/rig-choice.js';
import type { Rig } from '../ports/rig.js';

/** The rigs that there are, and which of them an App allows. */
export class RigRegistry {
  readonly #byId: ReadonlyMap<string, Rig>;

  /** @throws Error without any rig: a service that cannot answer must not start */
  constructor(readonly all: readonly Rig[]) {
    if (all.length === 0) throw new Error('At least one rig is needed');
    this.#byId = new Map(all.map((rig) => [rig.id, rig]));
  }

  /** What an App allows, its default first. */
  allowedBy(app: App): readonly Rig[] {
    if (app.rigs === null) return this.all;
    return app.rigs.map((id) => this.#byId.get(id)).filter((rig) => rig !== undefined);
  }

  /**
   * The rig of an App's turn: the selected one where it is allowed, else the App's default. Undefined: it allows none
   * that exists.
   */
  choose(app: App, selected: string | null): { readonly rig: Rig; readonly replaced: boolean } | undefined {
    const allowed = this.allowedBy(app);
    const wanted = allowed.find(({ id }) => id === selected);
    const rig = wanted ?? allowed[0];
    return rig && { rig, replaced: selected !== null && wanted === undefined };
  }

  /** What an App allows, the one that the session uses first. */
  listFor(app: App, selected: string | null): readonly RigChoice[] {
    const used = this.choose(app, selected)?.rig;
    const others = this.allowedBy(app).filter((rig) => rig !== used);
    return (used === undefined ? others : [used, ...others]).map(describeRig);
  }
}

/** What may be told of a rig. */
export function describeRig({ id, name, provider }: Rig): RigChoice {
  return { id, name, provider };
}
