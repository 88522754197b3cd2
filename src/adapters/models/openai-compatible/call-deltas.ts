import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from '../../../core/model/json.js';
import { MAX_ARGUMENTS } from '../http/limits.js';
import type { WireCall } from '../ending.js';
import { parseProviderJson } from '../provider-json.js';
import { UpstreamFault } from '../upstream-fault.js';

/** A fragment of a tool call in a chunk. */
export interface CallDelta {
  readonly index: number | undefined;
  readonly id: string | undefined;
  /** Undefined if the fragment has none; some servers send empty names. */
  readonly name: string | undefined;
  readonly args: string | undefined;
  /** What the server wants back with the call, such as Gemini's signature. */
  readonly extra?: JsonObject | undefined;
}

/** @throws UpstreamFault when the value is not a list of call fragments */
export function readCallDeltas(value: JsonValue | undefined): readonly CallDelta[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new UpstreamFault('unreadable', { code: 'tool_calls' });
  const items: readonly JsonValue[] = value;
  return items.map((item) => {
    if (!isJsonObject(item) || !isJsonObject(item.function)) {
      throw new UpstreamFault('unreadable', { code: 'tool_calls' });
    }
    const index = item.index ?? undefined;
    if (index !== undefined && typeof index !== 'number') {
      throw new UpstreamFault('unreadable', { code: 'tool_calls' });
    }
    const { name, arguments: args } = item.function;
    return {
      ...{ index, id: textOf(item.id), name: textOf(name) },
      ...{ args: argumentsOf(args), extra: extraOf(item.extra_content) },
    };
  });
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new UpstreamFault('unreadable', { code: 'tool_calls' });
  return value;
}

/** Arguments are JSON in a string; some servers send the JSON value itself. */
function argumentsOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  return JSON.stringify(value);
}

/** The maximum nesting of `extra_content`, in levels. */
const MAX_DEPTH = 16;

function extraOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) && !isDeeperThan(value, MAX_DEPTH) ? value : undefined;
}

interface GrowingCall {
  /** The id of the first fragment; undefined if another call already has it. */
  readonly id: string | undefined;
  readonly index: number | undefined;
  readonly name: string;
  /** All ids that its fragments had. */
  readonly ids: Set<string>;
  readonly indexes: Set<number>;
  args: string;
  extra: JsonObject | undefined;
  /** Whether the arguments are complete JSON; undefined: they have grown since that was checked. */
  isWhole: boolean | undefined;
}

/** More than a turn accepts in one response: the time to match a fragment grows with the number of calls. */
const MAX_CALLS = 256;

/**
 * Maximum number of characters that are parsed to check whether arguments are complete. Beyond it, arguments count as
 * incomplete, and a call whose complete arguments are continued fails.
 */
const MAX_PARSED = 4 * MAX_ARGUMENTS;

/**
 * Assembles calls from their fragments. Servers differ: some send an `index`, some only an `id`, some neither or the
 * index 0 for every call, and some send the name after the first fragment. A fragment that could belong to several
 * calls is dropped: incomplete arguments then fail the call, while a guess could run a call that the model did not
 * make.
 */
export class CallDeltas {
  readonly #calls: GrowingCall[] = [];
  /** Fragments of calls with an index that have no name yet. */
  readonly #nameless = new Map<number, Omit<CallDelta, 'index' | 'name'>>();
  readonly #named = new Set<number>();
  #length = 0;
  #parsed = 0;

  /**
   * @throws UpstreamFault when all arguments and extra contents together exceed `MAX_ARGUMENTS`, or there are over
   * `MAX_CALLS` calls
   */
  take(delta: CallDelta): void {
    const { index, id, name, args, extra } = delta;
    this.#length += (args?.length ?? 0) + (extra === undefined ? 0 : JSON.stringify(extra).length);
    if (this.#length > MAX_ARGUMENTS || this.#calls.length + this.#nameless.size > MAX_CALLS)
      throw new UpstreamFault('unreadable', { code: 'endless_call' });
    if (index === undefined || this.#named.has(index)) {
      this.#add(delta);
      return;
    }
    const before = this.#nameless.get(index);
    const all = {
      ...{ id: before?.id ?? id, args: (before?.args ?? '') + (args ?? '') },
      extra: before?.extra ?? extra,
    };
    if (name === undefined) {
      this.#nameless.set(index, all);
      return;
    }
    this.#nameless.delete(index);
    this.#named.add(index);
    this.#add({ index, name, ...all });
  }

  /**
   * Returns the calls in order.
   * @throws UpstreamFault when a call has no name
   */
  end(): readonly WireCall[] {
    for (const [index, rest] of this.#nameless) this.#add({ index, name: undefined, ...rest });
    const calls = [...this.#calls];
    // The index determines the order only if every call has one.
    if (calls.every(({ index }) => index !== undefined))
      calls.sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
    return calls.map(({ id, name, args, extra }) => ({
      ...{ id: id ?? '', name, input: args },
      ...(extra !== undefined && { attached: { extra } }),
    }));
  }

  #add(delta: CallDelta): void {
    const id = nonBlank(delta.id);
    const name = nonBlank(delta.name);
    const found = this.#find({ ...delta, id, name });
    if (found === 'unclear') return;
    if (found !== 'new') {
      if (id !== undefined) found.ids.add(id);
      if (delta.index !== undefined) found.indexes.add(delta.index);
      found.args += delta.args ?? '';
      found.extra ??= delta.extra;
      found.isWhole = undefined;
      return;
    }
    // A fragment with a blank name does not start a call.
    if (name === undefined && delta.name !== undefined) return;
    if (name === undefined) throw new UpstreamFault('unreadable', { code: 'nameless_call' });
    const isTaken = this.#calls.some((call) => call.id === id);
    this.#calls.push({
      ...{ id: isTaken ? undefined : id, index: delta.index, name, args: delta.args ?? '' },
      extra: delta.extra,
      isWhole: undefined,
      ids: new Set(id === undefined ? [] : [id]),
      indexes: new Set(delta.index === undefined ? [] : [delta.index]),
    });
  }

  /** Finds the call that a fragment belongs to. */
  #find({ index, id, name, args }: CallDelta): GrowingCall | 'new' | 'unclear' {
    const begins = name !== undefined && /^\s*[{[]/.test(args ?? '');
    const numbered = index === undefined ? [] : this.#calls.filter(({ indexes }) => indexes.has(index));
    const fitting = numbered.filter((call) => name === undefined || call.name === name);
    const identified = id === undefined ? [] : this.#calls.filter(({ ids }) => ids.has(id));
    if (identified.length > 0) {
      if (index === undefined) {
        return name === undefined
          ? this.#oneOf(identified, false)
          : this.#oneOf(
              identified.filter((call) => call.name === name),
              begins,
            );
      }
      const one = this.#oneOf(
        fitting.filter((call) => identified.includes(call)),
        begins,
      );
      if (one !== 'new' || name !== undefined) return one;
      return numbered.length > 0 ? 'unclear' : this.#oneOf(identified, false);
    }
    if (id !== undefined) return fitting.length > 0 && !begins ? this.#oneOf(fitting, false) : 'new';
    if (numbered.length > 0) return this.#oneOf(fitting, begins);
    return name === undefined ? this.#oneOf(this.#calls, false) : 'new';
  }

  /**
   * Selects the only call that a fragment can continue.
   * @param begins true when the fragment starts new arguments: it cannot continue a call whose arguments are complete
   */
  #oneOf(calls: readonly GrowingCall[], begins: boolean): GrowingCall | 'new' | 'unclear' {
    const open = begins ? calls.filter((call) => !this.#isWhole(call)) : calls;
    const [only, ...others] = open;
    if (only === undefined) return 'new';
    return others.length === 0 ? only : 'unclear';
  }

  #isWhole(call: GrowingCall): boolean {
    if (call.isWhole === undefined && this.#parsed <= MAX_PARSED) {
      this.#parsed += call.args.length;
      call.isWhole = isWhole(call.args);
    }
    return call.isWhole ?? false;
  }
}

function isWhole(args: string): boolean {
  try {
    const value = parseProviderJson(args);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function nonBlank(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
