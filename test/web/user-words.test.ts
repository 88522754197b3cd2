import { describe, expect, it } from '@jest/globals';
import { reasonOf } from '../../src/web/chat/conversation/user-words.js';

describe('the reason of a failure, on the page', () => {
  it('has the HTTP status only if the response says nothing else', () => {
    expect(reasonOf(new Error('The message is empty (HTTP 400)'))).toBe('The message is empty');
    expect(reasonOf(new Error('The request failed (HTTP 413)'))).toBe('The request failed (HTTP 413)');
  });
});
