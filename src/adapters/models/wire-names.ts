import { createHash } from 'node:crypto';
import { WALLET_REPORT } from '../../core/rigs/context-window.js';

/** A one-to-one mapping from the core's names to names that the provider's wire format allows. */
export interface WireNames {
  toWire(name: string): string;
  /** Returns an unmapped name, such as one that the model invented, unchanged. */
  fromWire(name: string): string;
}

const MAX_TOOL_NAME = 64;
const MAX_CALL_ID = 40;

/**
 * Maps tool names: providers accept `[a-zA-Z0-9_-]{1,64}` that starts with a letter or `_`, while a tool may be named
 * `server.tool`. Deterministic for the same names in the same order. No other tool gets the name `wallet_report`, so that
 * no result of a tool server looks like a verdict.
 */
export function wireToolNames(names: Iterable<string>): WireNames {
  return mapNames([WALLET_REPORT, ...names], MAX_TOOL_NAME, (clean) =>
    /^[a-zA-Z_]/.test(clean) ? clean : `_${clean}`,
  );
}

/** Maps the call ids of a history, which may come from another rig with other rules. */
export function wireCallIds(ids: Iterable<string>): WireNames {
  return mapNames(ids, MAX_CALL_ID, (clean) => (clean === '' ? 'call' : clean));
}

/** True for an id in the only form that Mistral's models accept. */
export function isShortCallId(id: string): boolean {
  return /^[a-zA-Z0-9]{9}$/.test(id);
}

/** Maps the call ids of a history to nine letters and digits. Deterministic, so that providers can cache the history. */
export function shortCallIds(ids: Iterable<string>): Pick<WireNames, 'toWire'> {
  const all = [...ids];
  const taken = new Set(all.filter(isShortCallId));
  const wires = new Map<string, string>();
  for (const id of all) {
    if (isShortCallId(id)) continue;
    let wire = shortDigest(id);
    while (taken.has(wire)) wire = shortDigest(wire);
    taken.add(wire);
    wires.set(id, wire);
  }
  return { toWire: (id) => wires.get(id) ?? id };
}

function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 9);
}

function mapNames(names: Iterable<string>, limit: number, finish: (clean: string) => string): WireNames {
  const wires = new Map<string, string>();
  const originals = new Map<string, string>();
  const sorted = [...new Set(names)];
  // Valid names come first, so that they stay unchanged.
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
