/**
 * Express gives each request and response the prototype of its app, by `Object.setPrototypeOf`, which throws away what
 * the engine had learned about the object: measured, a request through an Express app took four times as long for it.
 * Here the server creates its objects with these prototypes from the start, so that the call changes nothing.
 */
import { IncomingMessage, ServerResponse, type ServerOptions } from 'node:http';
import { request, response, type Express, type Request, type Response } from 'express';
import { beginLines, writeLines } from './guard-headers.js';
import { sendJson } from './json.js';
import { writeOnePiece } from './one-piece.js';

const NO_PARAMS: Record<string, string> = Object.freeze({});

/** Makes the app's prototypes those of two classes, and returns the classes for `http.createServer`. */
export function fastPrototypes(app: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class AppRequest extends IncomingMessage {
    // What Express sets: what is added later costs more.
    originalUrl = '';
    baseUrl = '';
    params = NO_PARAMS;
  }
  class AppResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    constructor(...args: ConstructorParameters<typeof ServerResponse<Request>>) {
      super(...args);
      beginLines(this);
    }
  }
  adopt(AppRequest.prototype, request);
  adopt(AppResponse.prototype, response);
  writeLines(AppResponse.prototype);
  writeOnePiece(AppResponse.prototype);
  Object.defineProperty(AppResponse.prototype, 'json', { value: sendJson });
  Object.defineProperty(app, 'request', { value: AppRequest.prototype });
  Object.defineProperty(app, 'response', { value: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };

  function adopt(prototype: object, expressMethods: object): void {
    Object.setPrototypeOf(prototype, expressMethods);
    Object.defineProperty(prototype, 'app', { value: app });
  }
}

/** Whether a server made it with these classes. */
export function isAppRequest(req: IncomingMessage): req is Request {
  return 'app' in req;
}

/** Whether a server made it with these classes. */
export function isAppResponse(res: ServerResponse): res is Response {
  return 'app' in res;
}
