import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { builtinTools } from '../../src/adapters/tools/builtin/tools.js';
import { createDemoRig } from '../../src/adapters/models/demo/rig.js';
import type { JsonObject, JsonValue } from '../../src/core/model/json.js';
import type { ToolCall } from '../../src/core/model/message.js';
import type { PromptMessage, RigPart, RigRequest } from '../../src/core/ports/rig.js';
import type { ToolDescription } from '../../src/core/ports/tool.js';

const rig = createDemoRig({ tokenMs: 0 });
const never = new AbortController().signal;

function tool(name: string, properties: JsonObject, required: string[] = []): ToolDescription {
  return { name, description: name, parameters: { type: 'object', properties, required } };
}

const string = { type: 'string' };
const TOOLS: readonly ToolDescription[] = [
  ...builtinTools({ now: () => 0 }),
  tool('get_balance', { address: string, chain: string }),
  tool('get_token_price', { symbols: { type: 'array', items: string } }, ['symbols']),
  tool('get_gas_price', { chain_id: { type: 'integer' } }),
  tool('get_block', { block: string }),
  tool('resolve_name', { name: string }, ['name']),
  tool('get_weather', { city: string, unit: { enum: ['celsius', 'fahrenheit'] } }, ['city']),
  tool('add', { a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b']),
  tool('echo', { text: string }, ['text']),
  tool('slow_task', {}),
];

function ask(said: readonly string[], tools = TOOLS): RigRequest {
  const messages = said.map((content): PromptMessage => ({ role: 'user', content }));
  return { purpose: 'answer', instructions: '', messages, tools };
}

async function parts(request: RigRequest, from = rig, signal = never): Promise<RigPart[]> {
  const all: RigPart[] = [];
  await from.respond(request, signal, (part) => all.push(part));
  return all;
}

async function text(request: RigRequest): Promise<string> {
  return (await parts(request)).map((part) => (part.type === 'text' ? part.text : '')).join('');
}

async function calls(request: RigRequest): Promise<[string, JsonObject][]> {
  const made = (await parts(request)).flatMap((part) => (part.type === 'tool_call' ? [part.call] : []));
  return made.map(({ name, args }: ToolCall) => [name, args]);
}

/** What the demo says once a tool has answered. */
async function told(name: string, result: JsonValue, failed = false): Promise<string> {
  const call = { callId: '1', name, args: {} };
  const step: PromptMessage = {
    role: 'assistant',
    content: '',
    toolCalls: [call],
    toolResults: [{ callId: '1', name, result, failed, multiStep: false }],
  };
  const request = ask(['go']);
  return text({ ...request, messages: [...request.messages, step] });
}

describe('the demo rig', () => {
  it('is the offline demo and checks without a network', async () => {
    expect(rig).toMatchObject({
      id: 'demo',
      name: 'Demo (offline)',
      provider: 'demo',
      contextTokens: 32_000,
    });
    await expect(rig.check(never)).resolves.toBeUndefined();
  });

  it.each(['hello', 'Hi there!', 'help', 'what can you do?', 'who are you?', ''])(
    'introduces itself to %j',
    async (said) => {
      const words = await text(ask([said]));
      expect(words).toContain('built-in demo');
      expect(words).toContain('without a language model');
      expect(words).toContain('12*(3+4)');
    },
  );

  it('admits what it does not understand, and what it can do', async () => {
    const words = await text(ask(['write a poem about the sea'], []));
    expect(words).toContain('did not understand “write a poem about the sea”');
    expect(words).toContain('built-in demo');
    expect(words).toContain('No tools are offered here');
  });

  it('ends with the usage, and only then', async () => {
    const said = await parts({ ...ask(['hello']), instructions: 'Be kind.' });
    const kinds = said.map(({ type }) => type);
    expect(kinds.indexOf('end')).toBe(kinds.length - 1);
    const end = said.at(-1);
    expect(end?.type === 'end' && end.usage.inputTokens > 100 && end.usage.outputTokens > 20).toBe(true);
  });

  it('never fails, whatever the message is', async () => {
    const words = fc.constantFrom(
      ...[
        'what',
        'time',
        'is',
        'it',
        'in',
        'and',
        'remember',
        'my',
        'I',
        'count',
        'to',
        'from',
        '12',
        '-',
        '(',
      ],
      ...[
        '/tool',
        '{',
        '"',
        'price',
        'of',
        'ETH',
        'balance',
        'add',
        '?',
        '.',
        '\n',
        '🦊',
        '\uD800',
        'echo',
        '=',
        ',',
      ],
    );
    const messages = fc.array(fc.array(words, { maxLength: 12 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(messages, async (said) => {
        const answer = await parts(ask(said.map((each) => each.join(' '))));
        expect(answer.length).toBeGreaterThan(1);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the pace', () => {
  it('is in words that make up the text', async () => {
    const pieces = (await parts(ask(['count from 1 to 1000']))).filter(({ type }) => type === 'text');
    expect(pieces).toHaveLength(1000);
    expect(await text(ask(['count to 4']))).toBe('1 2 3 4');
  });

  it('leaves the event loop its turns at full speed', async () => {
    let turns = 0;
    let isDone = false;
    const tick = (): void => {
      turns++;
      if (!isDone) setImmediate(tick);
    };
    tick();
    try {
      await text(ask(['count from 1 to 10000']));
    } finally {
      isDone = true;
    }
    expect(turns).toBeGreaterThan(100);
  });

  it('keeps its distance between two words', async () => {
    const start = performance.now();
    await parts(ask(['count to 6']), createDemoRig({ tokenMs: 10 }));
    expect(performance.now() - start).toBeGreaterThan(45);
  });

  it.each([0, 60_000])('stops at once when it is aborted, at %d ms a word', async (tokenMs) => {
    const controller = new AbortController();
    const reason = new Error('interrupted by the user');
    const seen: RigPart[] = [];
    const question = ask(['count to 10000']);
    const reading = createDemoRig({ tokenMs }).respond(question, controller.signal, (part) => {
      seen.push(part);
      setImmediate(() => {
        controller.abort(reason);
      });
    });
    await expect(reading).rejects.toBe(reason);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.length).toBeLessThan(200);
  });

  it('does not begin when it is stopped already', async () => {
    await expect(parts(ask(['hello']), rig, AbortSignal.abort('gone'))).rejects.toBe('gone');
  });
});

describe('plain words', () => {
  it.each<[string, [string, JsonObject][]]>([
    ['what time is it?', [['get_time', {}]]],
    ['What time is it in Tokyo?', [['get_time', { timezone: 'Asia/Tokyo' }]]],
    ['what time is it in UTC', [['get_time', { timezone: 'UTC' }]]],
    ['tell me the time in new york please', [['get_time', { timezone: 'America/New_York' }]]],
    ['time in Europe/Berlin', [['get_time', { timezone: 'Europe/Berlin' }]]],
    ['what is the time in Atlantis?', [['get_time', { timezone: 'Atlantis' }]]],
    [
      'what time is it in Tokyo and Paris right now?',
      [
        ['get_time', { timezone: 'Asia/Tokyo' }],
        ['get_time', { timezone: 'Europe/Paris' }],
      ],
    ],
    ['what is 12*(3+4)?', [['calculate', { expression: '12*(3+4)' }]]],
    ['calculate 2^10', [['calculate', { expression: '2^10' }]]],
    ['Calculate 5!', [['calculate', { expression: '5!' }]]],
    ['2+2=?', [['calculate', { expression: '2+2' }]]],
    ['what is 1,000 + 1', [['calculate', { expression: '1000 + 1' }]]],
    ['what is 12 plus 30?', [['calculate', { expression: '12 + 30' }]]],
    ['15% of 80', [['calculate', { expression: '15% * 80' }]]],
    ['what is the square root of 16?', [['calculate', { expression: 'sqrt(16)' }]]],
    ['compute foo(3)', [['calculate', { expression: 'foo(3)' }]]],
    [
      'What time is it in Tokyo, and what is 2+2?',
      [
        ['get_time', { timezone: 'Asia/Tokyo' }],
        ['calculate', { expression: '2+2' }],
      ],
    ],
    ['what is my balance?', [['get_balance', {}]]],
    ['balance of vitalik.eth on base', [['get_balance', { address: 'vitalik.eth', chain: 'base' }]]],
    ['price of ETH and BTC', [['get_token_price', { symbols: ['ETH', 'BTC'] }]]],
    ['eth price', [['get_token_price', { symbols: ['ETH'] }]]],
    ['what is PEPE worth?', [['get_token_price', { symbols: ['PEPE'] }]]],
    ['price of pepe', [['get_token_price', { symbols: ['PEPE'] }]]],
    ['how much is bitcoin worth?', [['get_token_price', { symbols: ['BTC'] }]]],
    ['gas price on chain 137', [['get_gas_price', { chain_id: 137 }]]],
    ['gas price on polygon', [['get_gas_price', { chain_id: 137 }]]],
    ['what is the latest block?', [['get_block', { block: 'latest' }]]],
    ['show me block 1234', [['get_block', { block: '1234' }]]],
    ['resolve vitalik.eth', [['resolve_name', { name: 'vitalik.eth' }]]],
    ["what's the weather in Paris?", [['get_weather', { city: 'Paris' }]]],
    ['get_weather city="New York" unit=celsius', [['get_weather', { city: 'New York', unit: 'celsius' }]]],
    ['add 2 and 3', [['add', { a: 2, b: 3 }]]],
    ['echo "hello world"', [['echo', { text: 'hello world' }]]],
    ['run the slow task', [['slow_task', {}]]],
  ])('%s', async (said, expected) => {
    expect(await calls(ask([said]))).toEqual(expected);
    expect(await text(ask([said]))).toBe('');
  });

  it.each(['I had a good time yesterday.', 'the price is high', 'what is love?', 'call 555-1234'])(
    'are no call in %j',
    async (said) => {
      expect(await calls(ask([said], TOOLS.slice(0, 7)))).toEqual([]);
    },
  );

  it('say when the tool is not offered, or what it lacks', async () => {
    expect(await text(ask(['what time is it?'], []))).toContain('get_time, and it is not offered here');
    expect(await text(ask(['add please']))).toContain('/tool add {"a":"…","b":"…"}');
  });

  it('give every call an id of its own', async () => {
    const made = await parts(ask(['time in Tokyo and Paris']));
    const ids = made.flatMap((part) => (part.type === 'tool_call' ? [part.call.callId] : []));
    expect(new Set(ids).size).toBe(2);
  });
});

describe('/tool', () => {
  it('calls exactly what it says', async () => {
    expect(await calls(ask(['/tool echo {"text": 1, "x": [null]}']))).toEqual([
      ['echo', { text: 1, x: [null] }],
    ]);
    expect(await calls(ask(['/tool slow_task']))).toEqual([['slow_task', {}]]);
    expect(await calls(ask([' /tool echo\n{\n"text":"a  b"}']))).toEqual([['echo', { text: 'a  b' }]]);
  });

  it.each([
    ['/tool echo {"text"', 'not valid JSON'],
    ['/tool echo [1]', 'must be a JSON object'],
    ['/tool nope {}', 'no tool "nope" here. The tools offered here are: get_time, calculate'],
    ['/tool', 'Which tool?'],
  ])('says what is wrong with %s', async (said, words) => {
    expect(await calls(ask([said]))).toEqual([]);
    expect(await text(ask([said]))).toContain(words);
  });
});

describe('results', () => {
  it.each<[string, JsonValue, string]>([
    ['get_time', { iso: 'x', timezone: 'UTC', text: '09:00 on Monday' }, 'It is 09:00 on Monday.'],
    ['calculate', { expression: '12*(3+4)', result: '84' }, '12*(3+4) = 84.'],
    ['echo', 'hello', 'The tool echo answered: hello.'],
    [
      'x',
      { address: '0x1', chain_id: 1, tags: ['a', 'b'] },
      'The tool x answered: address 0x1, chain id 1, tags a, b.',
    ],
    ['x', { summary: 'All is well.' }, 'All is well.'],
    ['x', null, 'The tool x answered: null.'],
    ['x', {}, 'The tool x answered: nothing.'],
  ])('of %s: %j', async (name, result, sentence) => {
    expect(await told(name, result)).toBe(sentence);
  });

  it('that are failures are reported as failures', async () => {
    expect(await told('calculate', 'Division by zero.', true)).toBe(
      'The tool calculate failed: Division by zero.',
    );
  });
});

describe('memory', () => {
  const said = [
    'Hello, my name is Ann. I like green tea.',
    'remember 42',
    'Please remember that my dog is called Rex.',
    'My favourite colour is teal',
    'The code word is banana. Please remember it.',
  ];

  it.each([
    ['remember 42', 'I will remember: 42.'],
    ['Remember that my dog is called Rex!', 'I will remember: your dog is called Rex.'],
    ['can you remember the number 7?', 'I will remember: the number 7.'],
    ['I live in Paris', 'Noted: you live in Paris.'],
  ])('takes note of %j', async (message, words) => {
    expect(await text(ask([message]))).toContain(words);
  });

  it.each([
    ['what number did I ask you to remember?', 'The number you asked me to remember is 42.'],
    ['What is my dog called?', 'your dog is called Rex'],
    ["what is my dog's name?", 'your dog is called Rex'],
    ['what did I say first?', '“Hello, my name is Ann. I like green tea.”'],
    ['what did I just say?', '“The code word is banana. Please remember it.”'],
    ["what's my name?", 'your name is Ann'],
    ['what is my favourite colour?', 'your favourite colour is teal'],
    ['what did I ask you to remember?', 'The code word is banana'],
    ['what was the code word?', 'The code word is banana'],
    ['which tea do I like?', 'you like green tea'],
    ['can you remember my name?', 'your name is Ann'],
    [
      'tell me all things, what did I ask you to remember?',
      '42; your dog is called Rex; The code word is banana',
    ],
    ['what is my cat called?', 'I find nothing about that in our conversation'],
  ])('answers %j', async (question, words) => {
    expect(await text(ask([...said, question]))).toContain(words);
  });

  it('has the newest number, and says when there is none', async () => {
    const question = 'what number did I ask you to remember?';
    expect(await text(ask(['remember 1', 'remember 2', question]))).toContain('is 2.');
    expect(await text(ask(['hello', question]))).toContain('have not asked me to remember anything');
  });

  it('answers a long text made to make patterns slow', async () => {
    const long = [
      `what my is ${'my what is in the '.repeat(4000)}`,
      `${' '.repeat(60_000)}x`,
      '(1+'.repeat(20_000),
    ];
    for (const message of long) {
      // One of them is the blank that it is asked: then there is nothing to say.
      const answer = await text(ask([...long, `${message} what is my name?`, message]));
      expect(typeof answer).toBe('string');
    }
  });
});

describe('counting', () => {
  it.each([
    ['count from 1 to 5', '1 2 3 4 5'],
    ['please count from 3 to 1', '3 2 1'],
    ['count down from 3', '3 2 1 0'],
    ['count to 10 by 5s', '1 6'],
    ['count from -1 to 1', '-1 0 1'],
    ['count from 1 to 1', '1'],
  ])('%s', async (said, expected) => {
    expect(await text(ask([said]))).toBe(expected);
  });

  it('goes to 10,000 numbers and politely no further', async () => {
    expect((await text(ask(['count from 1 to 10,000']))).split(' ')).toHaveLength(10_000);
    expect(await text(ask(['count from 0 to 10000']))).toContain('sorry');
    expect(await text(ask([`count to ${'9'.repeat(400)}`]))).toContain('sorry');
  });
});

describe('titles', () => {
  it.each([
    ['What is 12*(3+4)?', 'What is 12*(3+4)'],
    ['Tell me *everything* about __init__ now', 'Tell me everything about init now'],
    ['what time is it in Tokyo right now, please?', 'What time is it in Tokyo'],
    ['Write a "short" story', 'Write a short story'],
    ['/tool get_time {"timezone":"UTC"}', 'Get time timezone : UTC'],
    ['hello!', 'Hello'],
    ['x'.repeat(500), `X${'x'.repeat(47)}`],
    ['"…"', '…'],
  ])('of %.30s', async (said, title) => {
    expect(await text({ ...ask([said, 'second']), purpose: 'title' })).toBe(title);
  });

  it('are empty when nothing was said', async () => {
    expect(await text({ ...ask([]), purpose: 'title' })).toBe('');
  });
});
