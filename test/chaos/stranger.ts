import { Random } from './random.js';
import { ask, Cut, Hung } from './wire.js';
import { judge, judgeCut, sleep, type World } from './world.js';

/** Signatures with lengths, dimensions and depths that cost more than they say. */
const SIGNATURES = [
  'f(uint256[4294967295])',
  'f(uint256[9007199254740993])',
  `f(uint256${'[]'.repeat(500)})`,
  `f(${'('.repeat(500)}uint256${')'.repeat(500)})`,
  `f(${'uint256,'.repeat(1_000)}uint256)`,
  'f(uint256[65536][65536][65536])',
  'f(bytes[1000000000] a) returns (bytes[1000000000] b)',
] as const;

const EXPRESSIONS = [
  '9^9^9^9',
  `lcm(${Array.from({ length: 400 }, (_, n) => String(999_983 + 2 * n)).join(',')})`,
  '('.repeat(4_000),
  `${'1+'.repeat(4_000)}1`,
  '170! ^ 1000',
] as const;

/** A person who sends what costs much and says little, and asks tools for contracts that return too much. */
export class Stranger {
  readonly #random: Random;
  #underway = '';

  constructor(private readonly world: World) {
    this.#random = new Random(world.seed, 'stranger');
  }

  /** The request that it waits for; empty: none. */
  get underway(): string {
    return this.#underway;
  }

  async run(): Promise<void> {
    while (!this.world.isEnding) {
      await this.#bother();
      this.#underway = '';
      await sleep(this.#random.between(100, 600));
    }
  }

  async #bother(): Promise<void> {
    const { world } = this;
    const random = this.#random;
    const body = this.#body();
    const door = world.door(random);
    const askedAt = Date.now();
    const what = `stranger's POST /api/tools ${body.slice(0, 120)}`;
    this.#underway = `${new Date(askedAt).toISOString()} ${door.node} ${what}`;
    world.figures.count('hostileRequests');
    try {
      const answer = await ask({
        method: 'POST',
        url: `${door.base}/api/tools`,
        headers: { 'X-Session-Id': random.uuid(), 'Content-Type': 'application/json' },
        body,
      });
      judge(world, what, answer, { door, askedAt, expected: [200, 400, 404, 413, 422, 429] });
    } catch (error) {
      if (error instanceof Hung) world.figures.fault('hung', `${what}: ${error.message}`);
      else if (error instanceof Cut) judgeCut(world, what, door, error);
      else throw error;
      await world.whenUp();
    }
  }

  #body(): string {
    const random = this.#random;
    const kind = random.weigh(
      [['contract', 5], ['signature', 3], ['expression', 2], ['deep', 1], ['large', 1]], // prettier-ignore
      'contract',
    );
    switch (kind) {
      case 'contract': {
        const contract = `0x${'0'.repeat(39)}${String(random.integer(1, 9))}`;
        const name = random.pick(['call_view_function', 'simulate_call']);
        const returns = random.pick(['bytes[] a', 'string a', 'uint256[] a', '(bytes[][] b)[] a']);
        return JSON.stringify({ name, args: { contract, function: `f() view returns (${returns})` } });
      }
      case 'signature': {
        const name = random.pick(['encode_function_call', 'call_view_function']);
        const args = { function: random.pick(SIGNATURES), args: [[1]] };
        const contract = `0x${'0'.repeat(39)}4`;
        return JSON.stringify({ name, args: name === 'call_view_function' ? { ...args, contract } : args });
      }
      case 'expression':
        return JSON.stringify({ name: 'calculate', args: { expression: random.pick(EXPRESSIONS) } });
      case 'deep':
        return `{"name":"calculate","args":${'['.repeat(8_000)}${']'.repeat(8_000)}}`;
      case 'large':
        return `{"name":"calculate","args":{"expression":"${'1'.repeat(1_048_576)}"}}`;
    }
  }
}
