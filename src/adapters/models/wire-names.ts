/** A one-to-one mapping of the core's names to those that a provider's wire format allows. */
export interface WireNames {
  toWire(name: string): string;
  /** A name that was never mapped, such as one that the model made up, comes back as it is. */
  fromWire(name: string): string;
}

const MAX_TOOL_NAME = 64;
const MAX_CALL_ID = 40;

/**
 * Names for tools: providers take `[a-zA-Z0-9_-]{1,64}` that starts with a letter or `_`, while a tool may be called
 * `server.tool`. The same names in the same order get the same wire names.
 */
export function wireToolNames(names: Iterable<string>): WireNames {
  return mapNames(names, MAX_TOOL_NAME, (clean) => (/^[a-zA-Z_]/.test(clean) ? clean : `_${clean}`));
}

/** Ids for the calls of a history that another rig, with other rules, may have made. */
export function wireCallIds(ids: Iterable<string>): WireNames {
  return mapNames(ids, MAX_CALL_ID, (clean) => (clean === '' ? 'call' : clean));
}

function mapNames(names: Iterable<string>, limit: number, finish: (clean: string) => string): WireNames {
  const wires = new Map<string, string>();
  const originals = new Map<string, string>();
  const sorted = [...new Set(names)];
  // A name that is fit as it is keeps itself, whatever others turn into.
  for (const name of sorted) if (fitted(name) === name) assign(name, name);
  for (const name of sorted) if (!wires.has(name)) assign(name, unique(fitted(name)));
  return {
    toWire: (name) => wires.get(name) ?? fitted(name),
    fromWire: (wire) => originals.get(wire) ?? wire,
  };

  function fitted(name: string): string {
    return finish(name.replace(/[^a-zA-Z0-9_-]/g, '_')).slice(0, limit);
  }
  function assign(name: string, wire: string): void {
    wires.set(name, wire);
    originals.set(wire, name);
  }
  function unique(wire: string): string {
    for (let n = 2, candidate = wire; ; n++) {
      if (!originals.has(candidate)) return candidate;
      const suffix = `_${String(n)}`;
      candidate = wire.slice(0, limit - suffix.length) + suffix;
    }
  }
}
