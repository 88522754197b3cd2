import { describe, expect, it } from '@jest/globals';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import express, { type Request, type Response } from 'express';
import { HttpError } from '../../../src/http/response/errors.js';
import { StreamPlaces } from '../../../src/http/sse/stream-places.js';

const app = express();

/** A request that says by `X-Forwarded-For` for whom it asks, and its answer. */
function exchange(address: string): { readonly req: Request; readonly res: Response } {
  const message = new IncomingMessage(new Socket());
  message.headers['x-forwarded-for'] = address;
  const req = Object.setPrototypeOf(message, app.request) as Request;
  const res = Object.setPrototypeOf(new ServerResponse(message), app.response) as Response;
  app.set('trust proxy', true);
  Object.assign(req, { app, res });
  return { req, res };
}

function taking(places: StreamPlaces, address: string, session: string): () => Response {
  return () => {
    const { req, res } = exchange(address);
    places.take(req, res, session);
    return res;
  };
}

describe('places for streams', () => {
  it('are bounded for a session, wherever its streams come from, and free again when an answer is over', () => {
    const places = new StreamPlaces({ streamLimit: 0, trustProxy: true });
    const answers = Array.from({ length: 100 }, (_, n) => taking(places, `10.0.0.${String(n)}`, 'one')());
    const more = taking(places, '10.0.1.1', 'one');
    expect(more).toThrow(expect.objectContaining({ status: 429, code: 'rate_limited', retryAfter: 5 }));
    expect(more).toThrow(HttpError);
    taking(places, '10.0.1.1', 'other')();
    answers[0]?.emit('close');
    more();
    expect(more).toThrow('100 streams of this session');
  });

  it('are bounded for an address, whatever its sessions', () => {
    const places = new StreamPlaces({ streamLimit: 2, trustProxy: true });
    const first = taking(places, '10.0.0.1', 'a')();
    taking(places, '10.0.0.1', 'b')();
    const more = taking(places, '10.0.0.1', 'c');
    expect(more).toThrow('2 streams from this address');
    taking(places, '10.0.0.2', 'c')();
    first.emit('close');
    more();
  });
});
