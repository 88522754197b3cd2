import {
  createClient,
  type Client,
  type ClientOptions,
  type SessionEvent,
} from '../../../src/client/index.js';
import { said } from '../watching.js';
import type { ScriptedSession } from './scripted-session.js';

/** The rules that a tab can break. */
export const RULES = ['order', 'completeness', 'turns', 'progress', 'closing'] as const;
export type Rule = (typeof RULES)[number];

/** The options of a tab's client. */
export type TabOptions = Pick<ClientOptions, 'url' | 'sessionId' | 'surface' | 'fetch'>;

/** What a tab reports to its simulation. */
export interface Report {
  readonly trace: (line: string) => void;
  readonly broken: (rule: Rule, problem: string) => void;
}

/** One tab of a person, with a client of its own. */
export abstract class SimulatedTab {
  readonly client: Client;

  constructor(
    protected readonly name: string,
    protected readonly session: ScriptedSession,
    protected readonly report: Report,
    options: TabOptions,
  ) {
    this.client = createClient(options);
  }

  /** Called once, at the beginning. */
  abstract open(): void;

  abstract send(text: string): Promise<void>;

  /** Checks what the person sees once everything was delivered. */
  abstract checkView(): void;

  /** Checks what is left when no turn runs any more and everything was delivered. */
  abstract checkEnd(): void;

  close(): void {
    this.client.close();
  }

  /** Checks what is left after `close`. */
  abstract checkClosed(): void;

  /** Traces an event that the client has yielded. */
  protected traceEvent(receiver: string, event: SessionEvent): void {
    const detail =
      event.type === 'state' ? `state ${event.state.status} "${said(event.state)}"` : JSON.stringify(event);
    this.report.trace(`${receiver}: >> ${detail}`);
  }
}
