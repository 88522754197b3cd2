import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import { request, response, type Express, type Request, type Response } from 'express';
import { ExchangeRequest } from '../request/exchange.js';
import { ListedResponse } from './header-list.js';
import { sendJson } from './json.js';

const NO_PARAMS: Record<string, string> = Object.freeze({});

/**
 * Creates the classes of an app's requests and responses, for `http.createServer`: they have Express's methods from the
 * start. Express changes the prototype of objects of other classes on each request, which costs four times the rest of
 * the request.
 */
export function appClasses(app: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class AppRequest extends ExchangeRequest {
    // The fields that Express sets.
    originalUrl = '';
    baseUrl = '';
    params = NO_PARAMS;
  }
  class AppResponse<Req extends IncomingMessage = IncomingMessage> extends ListedResponse<Req> {}
  addMethods(AppRequest.prototype, request);
  addMethods(AppResponse.prototype, response);
  Object.defineProperty(AppResponse.prototype, 'json', { value: sendJson });
  Object.defineProperty(app, 'request', { value: AppRequest.prototype });
  Object.defineProperty(app, 'response', { value: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };

  function addMethods(prototype: object, methods: object): void {
    Object.defineProperties(prototype, {
      ...Object.getOwnPropertyDescriptors(methods),
      app: { value: app },
    });
  }
}

/** Whether a server made the request with these classes. */
export function isAppRequest(req: IncomingMessage): req is Request {
  return 'app' in req;
}

/** Whether a server made the response with these classes. */
export function isAppResponse(res: ServerResponse): res is Response {
  return 'app' in res;
}
