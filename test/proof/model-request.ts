import { z } from 'zod';
import { sayScript } from '../support/upstream.js';

/** A request of the service to the model, as far as a script reads it. One without tools asks for a title. */
export const ModelRequest = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.string().nullish() })),
  tools: z.array(z.unknown()).default([]),
});
export type ModelRequest = z.infer<typeof ModelRequest>;

/** A snapshot of a session, as far as it says whether a turn runs. */
export const State = z.object({ is_processing: z.boolean() });

/** The response to a request for a title. */
export const sayTitle = sayScript('A title');
