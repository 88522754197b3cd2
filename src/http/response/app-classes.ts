import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import { request, response, type Express, type Request, type Response } from 'express';
import { ExchangeRequest } from '../request/exchange.js';
import { pathOf } from '../request/target.js';
import { sendJson } from './json.js';
import { OutcomeResponse } from './outcome.js';

const NO_PARAMS: Record<string, string> = Object.freeze({});

/**
 * Creates the request and response classes of an app, for `http.createServer`. Their prototypes already have Express's
 * methods: Express would otherwise change the prototype of each object on each request, which is slow.
 */
export function appClasses(app: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class AppRequest extends ExchangeRequest {
    originalUrl = '';
    baseUrl = '';
    params = NO_PARAMS;
  }
  class AppResponse<Req extends IncomingMessage = IncomingMessage> extends OutcomeResponse<Req> {}
  addMethods(AppRequest.prototype, request);
  addMethods(AppResponse.prototype, response);
  Object.defineProperty(AppRequest.prototype, 'path', {
    get(this: IncomingMessage) {
      return pathOf(this.url ?? '');
    },
  });
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

/** True when the request has Express's methods. */
export function isAppRequest(req: IncomingMessage): req is Request {
  return 'app' in req;
}

/** True when the response has Express's methods. */
export function isAppResponse(res: ServerResponse): res is Response {
  return 'app' in res;
}
