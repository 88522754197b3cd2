import { describe, expect, it } from '@jest/globals';
import { Closing } from '../src/composition/closing.js';

function opened(...failing: readonly string[]) {
  const closing = new Closing();
  const closed: string[] = [];
  for (const name of ['store', 'bus', 'core']) {
    closing.add(() => {
      closed.push(name);
      return failing.includes(name) ? Promise.reject(new Error(name)) : Promise.resolve();
    });
  }
  return { closing, closed };
}

describe('what is to be closed in the end', () => {
  it('is closed once, the last that was opened first', async () => {
    const { closing, closed } = opened();
    await Promise.all([closing.close(), closing.close()]);
    await closing.close();
    expect(closed).toEqual(['core', 'bus', 'store']);
  });

  it('is closed also when some of it fails, and the first failure is reported', async () => {
    const { closing, closed } = opened('core', 'bus');
    await expect(closing.close()).rejects.toThrow('core');
    expect(closed).toEqual(['core', 'bus', 'store']);
  });
});
