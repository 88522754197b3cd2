import {
  IncomingMessage,
  ServerResponse,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Socket } from 'node:net';

/** Alternating names and values, as `response.writeHead` accepts them. */
export type HeaderList = readonly string[];

type GivenHeaders = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A handler that sets headers, such as those of helmet and cors. */
type HeaderSetter = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * A response that collects headers in a list and passes the list to `writeHead`, because `setHeader` is slow. When code
 * reads, changes or removes a header, the list becomes ordinary headers.
 */
export class ListedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Undefined once the headers were written or converted into ordinary ones. */
  #list: string[] | undefined = [];

  /** Adds headers. Keeps existing headers of the same name. */
  addHeaders(list: HeaderList): void {
    if (this.#list === undefined) appendAll(this, list);
    else this.#list.push(...list);
  }

  /** Replaces a header, or adds it when absent. The name must be spelled the same each time. */
  replaceHeader(name: string, value: string): void {
    const list = this.#list;
    if (list === undefined) {
      this.setHeader(name, value);
      return;
    }
    for (let at = 0; at < list.length; at += 2) {
      if (list[at] !== name) continue;
      list[at + 1] = value;
      return;
    }
    list.push(name, value);
  }

  override setHeader(...args: Parameters<ServerResponse['setHeader']>): this {
    this.#unlist();
    return super.setHeader(...args);
  }

  override appendHeader(...args: Parameters<ServerResponse['appendHeader']>): this {
    this.#unlist();
    return super.appendHeader(...args);
  }

  override setHeaders(...args: Parameters<ServerResponse['setHeaders']>): this {
    this.#unlist();
    return super.setHeaders(...args);
  }

  override getHeader(name: string): ReturnType<ServerResponse['getHeader']> {
    this.#unlist();
    return super.getHeader(name);
  }

  override getHeaders(): ReturnType<ServerResponse['getHeaders']> {
    this.#unlist();
    return super.getHeaders();
  }

  override getHeaderNames(): string[] {
    this.#unlist();
    return super.getHeaderNames();
  }

  override hasHeader(name: string): boolean {
    this.#unlist();
    return super.hasHeader(name);
  }

  override removeHeader(name: string): void {
    this.#unlist();
    super.removeHeader(name);
  }

  /** Node also calls this for implicit headers. */
  override writeHead(statusCode: number, reason?: string | GivenHeaders, headers?: GivenHeaders): this {
    const list = this.#list;
    if (list !== undefined && reason === undefined && headers === undefined) {
      this.#list = undefined;
      return super.writeHead(statusCode, list);
    }
    this.#unlist();
    if (typeof reason === 'string') return super.writeHead(statusCode, reason, headers);
    return super.writeHead(statusCode, reason ?? headers);
  }

  #unlist(): void {
    const list = this.#list;
    if (list === undefined) return;
    this.#list = undefined;
    appendAll(this, list);
  }
}

/** Adds headers to a response, through its list if it has one. */
export function addHeaders(res: ServerResponse, list: HeaderList): void {
  if (res instanceof ListedResponse) res.addHeaders(list);
  else appendAll(res, list);
}

/** Replaces a header of a response, through its list if it has one. The name must be spelled the same each time. */
export function replaceHeader(res: ServerResponse, name: string, value: string): void {
  if (res instanceof ListedResponse) res.replaceHeader(name, value);
  else res.setHeader(name, value);
}

/** Returns the headers that handlers set on every response, whatever the request. */
export function headersOf(handlers: readonly HeaderSetter[]): HeaderList {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  req.method = 'GET';
  for (const handle of handlers) handle(req, res, requireNoError);
  return Object.entries(res.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
}

function requireNoError(error?: unknown): void {
  if (error !== undefined) throw new Error('the headers could not be set in advance', { cause: error });
}

function appendAll(res: ServerResponse, list: HeaderList): void {
  for (let at = 0; at < list.length; at += 2) res.appendHeader(list[at] ?? '', list[at + 1] ?? '');
}
