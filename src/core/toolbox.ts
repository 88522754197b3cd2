import { untilAborted } from './abort.js';
import type { App } from './app.js';
import { isDeeperThan, type JsonObject, type JsonValue } from './json.js';
import { resultText, type ToolCall, type ToolResult } from './message.js';
import { UNOBSERVED, type ToolObserver, type ToolOutcome } from './observer.js';
import type { Log, Schemas, Tool, ToolContext, ToolDescription, ToolSource } from './ports.js';
import type { Problem } from './refusal.js';
import { scrub } from './scrub.js';

/** A result's text may have this many bytes; the rest is cut, with a marker. */
export const MAX_RESULT_BYTES = 65_536;
/** A result may be nested so deeply. */
const MAX_DEPTH = 200;
/** How often one call may report progress. */
const MAX_PROGRESS = 200;

type Check = (value: JsonValue) => readonly Problem[];

/** The tools that there are, which of them an App has, and the running of one call. */
export class Toolbox {
  #listed: readonly Tool[] | null = null;
  #byName: ReadonlyMap<string, Tool> = new Map();
  /** What `describe` said since the list last changed. */
  #described = new WeakMap<App, readonly ToolDescription[]>();
  readonly #checks = new WeakMap<Tool, Check>();

  constructor(
    private readonly source: ToolSource,
    private readonly schemas: Schemas,
    private readonly settings: { readonly toolTimeoutMs: number },
    private readonly log: Log,
  ) {}

  /** The tools of an App, as a rig and a client see them, in the App's order where it gives one. */
  describe(app: App): readonly ToolDescription[] {
    const tools = [...this.#tools().values()];
    const known = this.#described.get(app);
    if (known !== undefined) return known;
    const order = new Map(app.tools?.map((name, index) => [name, index]));
    const place = (name: string): number => order.get(name) ?? order.size;
    const described = tools
      .filter(({ name }) => isOffered(app, name))
      .sort((one, other) => place(one.name) - place(other.name))
      .map(({ name, description, parameters }) => ({ name, description, parameters }));
    this.#described.set(app, described);
    return described;
  }

  /** A tool of an App. */
  find(app: App, name: string): Tool | undefined {
    return isOffered(app, name) ? this.#tools().get(name) : undefined;
  }

  /** What is wrong with the arguments of a call, with paths from `args` on. */
  problems(tool: Tool, args: JsonObject): readonly Problem[] {
    let check = this.#checks.get(tool);
    if (check === undefined) this.#checks.set(tool, (check = this.schemas.compile(tool.parameters)));
    return check(args).map(({ path, message }) => ({ path: path === '' ? 'args' : `args.${path}`, message }));
  }

  /** True when a call of unknown outcome may be made again. A tool that is gone may not. */
  isRepeatable(name: string): boolean {
    const sideEffects = this.#tools().get(name)?.sideEffects ?? 'yes';
    return sideEffects !== 'yes';
  }

  /**
   * Runs one call. Whatever goes wrong (no such tool, bad arguments, a failure, a timeout) is a failed result, told in words:
   * nothing is thrown but the reason of `context.signal`, at once when it aborts, whether the tool heeds it or not.
   * Neither the result nor the progress shows a secret of the context.
   */
  async run(
    app: App,
    call: ToolCall,
    context: Omit<ToolContext, 'progress'>,
    report: (message: string) => void,
    observer: ToolObserver = UNOBSERVED,
  ): Promise<ToolResult> {
    let reports = 0;
    let isOver = false;
    const tool = this.find(app, call.name);
    const { callId, name } = call;
    const { sessionId } = context;
    const observed = observer.toolCalled({
      ...{ name: tool === undefined ? null : name, callId, app: app.name, sessionId },
    });
    let outcome: ToolOutcome = 'interrupted';
    const progress = (message: string): void => {
      // A tool that was given up on may still talk.
      if (isOver || context.signal.aborted || ++reports > MAX_PROGRESS) return;
      report(resultText(scrub(message, context.secrets)));
    };
    try {
      const attempt = await this.#attempt(tool, call, { ...context, progress });
      outcome = attempt.outcome;
      const { result } = attempt;
      return { callId, name, result, failed: outcome !== 'complete', multiStep: reports > 0 };
    } finally {
      isOver = true;
      observed.ended(outcome);
    }
  }

  async #attempt(tool: Tool | undefined, call: ToolCall, context: ToolContext): Promise<Attempt> {
    if (tool === undefined) return failure('refused', `There is no tool named ${call.name}`);
    const milliseconds = tool.timeoutMs ?? this.settings.toolTimeoutMs;
    const timeout = new AbortController();
    const timer = setTimeout(() => {
      timeout.abort(new Error(`The tool did not answer within ${String(milliseconds / 1000)} s`));
    }, milliseconds);
    const signal = AbortSignal.any([context.signal, timeout.signal]);
    try {
      const problems = this.problems(tool, call.args);
      if (problems.length > 0) {
        const list = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
        return failure('refused', `The arguments do not fit: ${list}`);
      }
      const result = await untilAborted(tool.run(call.args, { ...context, signal }), signal);
      return { result: bounded(scrub(asJson(result), context.secrets)), outcome: 'complete' };
    } catch (error) {
      context.signal.throwIfAborted();
      this.log.warn(
        { tool: call.name, reason: error instanceof Error ? error.name : typeof error },
        'tool failed',
      );
      const words = error instanceof Error && error.message !== '' ? error.message : 'The tool failed';
      return failure(
        timeout.signal.aborted ? 'timeout' : 'failed',
        resultText(bounded(scrub(words, context.secrets))),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  #tools(): ReadonlyMap<string, Tool> {
    const listed = this.source.list();
    if (listed !== this.#listed) {
      this.#listed = listed;
      this.#described = new WeakMap();
      this.#byName = new Map(listed.map((tool) => [tool.name, tool]));
    }
    return this.#byName;
  }
}

/** Whether an App has the tool of this name, if there is one. */
function isOffered(app: App, name: string): boolean {
  const server = app.toolServers.find((candidate) => name.startsWith(`${candidate}.`));
  if (server !== undefined) {
    const chosen = app.tools?.filter((tool) => tool.startsWith(`${server}.`)) ?? [];
    return chosen.length === 0 || chosen.includes(name);
  }
  return app.tools === null ? !name.includes('.') : app.tools.includes(name) && !name.includes('.');
}

/** What one attempt at a call gave. */
interface Attempt {
  readonly result: JsonValue;
  readonly outcome: ToolOutcome;
}

function failure(outcome: ToolOutcome, words: string): Attempt {
  return { result: words, outcome };
}

/** What a tool gave, as JSON has it. @throws Error when JSON cannot carry it: a tool may be the operator's own, and of any making */
function asJson(given: JsonValue): JsonValue {
  let text: unknown;
  try {
    text = JSON.stringify(given);
  } catch (error) {
    throw new Error('The tool gave a result that JSON cannot carry', { cause: error });
  }
  // What is undefined, whatever its type says, has no JSON.
  if (typeof text !== 'string') return null;
  const value: unknown = JSON.parse(text);
  if (!isJson(value)) return null;
  if (isDeeperThan(value, MAX_DEPTH)) throw new Error('The tool gave a result that is nested too deeply');
  return value;
}

/** What was parsed is JSON: this only tells the compiler. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined;
}

function bounded(result: JsonValue): JsonValue {
  const text = resultText(result);
  if (Buffer.byteLength(text) <= MAX_RESULT_BYTES) return result;
  const cut = Buffer.from(text)
    .subarray(0, MAX_RESULT_BYTES)
    .toString()
    .replace(/\uFFFD+$/, '');
  return `${cut}… [cut: the result has ${String(Buffer.byteLength(text))} bytes]`;
}
