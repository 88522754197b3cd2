import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Place, type Running } from '../cli/running.js';
import { Gate } from '../support/gate.js';
import {
  endChunk,
  startUpstream,
  textChunk,
  toolChunk,
  type Script,
  type Upstream,
} from '../support/upstream.js';

/** What the configuration of a scripted service has besides its rigs. */
export interface ScriptedSetup {
  readonly more?: string;
  /** The entries of `apps`; absent: `default` and `special`. */
  readonly apps?: string;
  /** By name, beside the configuration file. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The real service with a model whose answers the test writes, by the words of the user. */
export class ScriptedService {
  url = '';
  #running: Running | undefined;
  #env: Readonly<Record<string, string>> = {};
  readonly #place = new Place();
  readonly #scripts = new Map<string, Script[]>();

  private constructor(private readonly upstream: Upstream) {}

  /**
   * @param setup lines that the configuration file has besides, or also its Apps, and files beside it
   */
  static async start(
    env: Readonly<Record<string, string>> = {},
    setup: string | ScriptedSetup = '',
  ): Promise<ScriptedService> {
    const { more = '', apps, files = {} } = typeof setup === 'string' ? { more: setup } : setup;
    const upstream = await startUpstream();
    const service = new ScriptedService(upstream);
    upstream.always((reply, request) => {
      if (JSON.stringify(request.body).includes('Give the conversation a title')) {
        return says('A made-up title')(reply, request);
      }
      const asked = lastWords(request.body);
      const script = service.#scripts.get(asked)?.shift() ?? says(`You said: ${asked}`);
      return script(reply, request);
    });
    const { directory } = service.#place;
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
    writeFileSync(join(directory, 'diptych.yaml'), configuration(upstream.url, apps) + more);
    await service.#serve(env);
    return service;
  }

  /** What the model answers when the user's last words are these; one script a step. */
  when(words: string, ...scripts: readonly Script[]): void {
    this.#scripts.set(words, [...scripts]);
  }

  /** An App key, made beside the running service. */
  async appKey(...apps: readonly string[]): Promise<string> {
    const flags = apps.flatMap((app) => ['--app', app]);
    const made = await this.#place.run(['keys', 'create', ...flags, '--json']);
    const key: unknown = JSON.parse(made.out);
    if (typeof key === 'object' && key !== null && 'key' in key && typeof key.key === 'string')
      return key.key;
    throw new Error(`no key was made: ${made.err}`);
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    this.#running?.child.kill('SIGKILL');
    await this.#running?.ended;
  }

  /** Starts it again: the same port and the same data. */
  async restart(): Promise<void> {
    await this.#serve({ ...this.#env, PORT: new URL(this.url).port });
  }

  async close(): Promise<void> {
    await this.#place.clear();
    await this.upstream.close();
  }

  async #serve(env: Readonly<Record<string, string>>): Promise<void> {
    this.#env = env;
    const { running, url } = await this.#place.serve({ LOG_LEVEL: 'info', ...env });
    this.#running = running;
    this.url = url;
  }
}

/** A script that says these pieces, each once its gate is open. */
export function says(...pieces: readonly (string | Gate)[]): Script {
  return async (reply) => {
    reply.open();
    for (const piece of pieces) {
      if (piece instanceof Gate) await piece.passed;
      else reply.event(textChunk(piece));
    }
    reply.event(endChunk());
    reply.event('[DONE]');
  };
}

/** A script that calls a tool. @param id of the call */
export function calls(name: string, args: object, id = `call_${name}`): Script {
  return (reply) => {
    reply.open();
    reply.event(toolChunk(0, { id, name, arguments: JSON.stringify(args) }));
    reply.event(endChunk('tool_calls'));
    reply.event('[DONE]');
  };
}

const APPS = '  - { name: default }\n  - { name: special }\n';

function configuration(upstream: string, apps = APPS): string {
  const rig = (id: string, name: string): string =>
    `  - { id: ${id}, name: ${name}, provider: openai-compatible, model: m, baseUrl: '${upstream}/v1', apiKey: none }\n`;
  return `rigs:\n${rig('scripted', 'scripted')}${rig('second', 'The second')}apps:\n${apps}`;
}

/** What the user said last, of a request to the model. */
function lastWords(body: unknown): string {
  const messages = typeof body === 'object' && body !== null && 'messages' in body ? body.messages : [];
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  for (const message of list.toReversed()) {
    if (typeof message !== 'object' || message === null || !('role' in message) || !('content' in message))
      continue;
    if (message.role === 'user' && typeof message.content === 'string') return message.content;
  }
  return '';
}
