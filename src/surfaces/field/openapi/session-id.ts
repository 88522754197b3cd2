import type { Schema } from '../../openapi/document.js';

/** A session id as the client sent it: a UUID in lower case, or another id. */
export const sentId: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  description: 'The id of the session as it was sent; a UUID in lower case.',
};
