import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** What a scripted tool may do. */
interface Call {
  readonly args: Record<string, unknown>;
  readonly signal: AbortSignal;
  readonly server: McpServer['server'];
  readonly progress: (message: string) => Promise<void>;
}
type Result = Record<string, unknown>;

const object = { type: 'object', properties: {} };
const text = (words: string): Result => ({ content: [{ type: 'text', text: words }] });
/** As many characters as the argument `pad` of a call wants. */
const pad = ({ args }: Call): string => 'x'.repeat(Number(args.pad ?? 0));

/** A server whose tools do what a test needs, faults included. Each process or test makes its own. */
export function createScriptedServer(options: {
  /** The secret that it was given, if any. */
  readonly secret?: string | undefined;
  /** Where it refuses to list its tools. */
  readonly listsNothing?: boolean;
  /** Hears of `hang`: that a call of it has begun, or was cancelled. */
  readonly onHang?: (what: 'hanging' | 'cancelled') => void;
}): McpServer {
  const host = new McpServer(
    { name: 'scripted', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const { server } = host;
  const cancelled: string[] = [];
  let hasGrown = false;
  let failures = 0;
  let notices = 0;
  server.oninitialized = () => {
    const { transport } = server;
    const receive = transport?.onmessage;
    if (transport === undefined || receive === undefined) return;
    transport.onmessage = (message, extra) => {
      if ('method' in message && message.method === 'notifications/cancelled') notices++;
      receive(message, extra);
    };
  };
  const secret = options.secret ?? 'none';

  const tools: Record<string, (call: Call) => Promise<Result> | Result> = {
    echo: ({ args }) => text(String(args.text)),
    // Breaks the protocol over stdio, as a forgotten debugging line does.
    print: ({ args }) => {
      process.stdout.write(`${String(args.text)}\n`.repeat(100));
      return text('printed');
    },
    pid: () => ({ content: [], structuredContent: { pid: process.pid } }),
    whoami: () => text(secret === 'none' ? 'nobody' : `key of ${String(secret.length)} characters`),
    die: async ({ progress }) => {
      await progress('dying');
      process.exit(3);
    },
    hang: async ({ progress, signal, args }) => {
      signal.addEventListener('abort', () => {
        cancelled.push(String(args.id));
        options.onHang?.('cancelled');
      });
      options.onHang?.('hanging');
      await progress('hanging');
      return new Promise<Result>(() => undefined);
    },
    freeze: async ({ progress }) => {
      await progress('freezing');
      setTimeout(() => {
        for (;;);
      }, 50);
      return new Promise<Result>(() => undefined);
    },
    cancelled: () => ({ content: [], structuredContent: { ids: [...cancelled], notices } }),
    mutter: ({ args }) => {
      console.error(String(args.text));
      return text('said');
    },
    // Its next lists fail, as many as the argument `failures` says.
    grow: async ({ server: own, args }) => {
      hasGrown = true;
      failures = Number(args.failures ?? 0);
      await own.sendToolListChanged();
      return text('grown');
    },
    huge: ({ args }) => text('x'.repeat(Number(args.bytes))),
    many: ({ args }) => ({ structuredContent: { list: Array(Number(args.values)).fill(0) }, content: [] }),
    fail: (call) => ({ isError: true, ...text(`${pad(call)}upstream refused "${secret}"`) }),
    reject: (call) => {
      throw new Error(`${pad(call)}bad header: Bearer ${secret}`);
    },
    whisper: (call) => text(`${pad(call)}${secret}`),
    leak: async ({ progress }) => {
      await progress(`using ${secret}`);
      return { content: [], structuredContent: { [secret]: [Buffer.from(secret).toString('base64')] } };
    },
    media: () => ({
      content: [
        { type: 'text', text: 'look:' },
        { type: 'image', mimeType: 'image/png', data: Buffer.alloc(300).toString('base64') },
        { type: 'resource', resource: { uri: 'file:///a.bin', blob: Buffer.alloc(10).toString('base64') } },
        { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside' } },
        { type: 'resource_link', uri: 'https://example.com/a', name: 'A' },
      ],
    }),
  };
  const described = [
    { name: 'bad schema', inputSchema: { type: 'object', properties: { a: { type: 'nonsense' } } } },
    { name: 'no_schema' },
    { name: 'task_only', inputSchema: object, execution: { taskSupport: 'required' } },
    {
      name: 'bad_output',
      inputSchema: object,
      outputSchema: { type: 'object', properties: { a: { type: 7 } } },
    },
    { name: 'spaced name/é', inputSchema: { type: 'object' }, description: 'd'.repeat(5_000) },
    { name: 'spaced_name/é', inputSchema: object },
    { name: 'reads', inputSchema: object, annotations: { readOnlyHint: true } },
    { name: 'repeats', inputSchema: object, annotations: { idempotentHint: true } },
    { name: 'writes', inputSchema: object, annotations: { readOnlyHint: false } },
    { name: 'writes_to', inputSchema: object, description: `for ${secret}` },
  ];

  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    if (options.listsNothing === true) return { tools: [] };
    if (failures-- > 0) throw new Error('busy');
    const all = [
      ...Object.keys(tools).map((name) => ({ name, inputSchema: object })),
      ...described,
      ...(hasGrown ? [{ name: 'grown', inputSchema: object }] : []),
    ];
    // Two pages.
    const half = 10;
    return params?.cursor === 'second'
      ? { tools: all.slice(half) as never }
      : { tools: all.slice(0, half) as never, nextCursor: 'second' };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const run = tools[params.name];
    if (run === undefined) return text(`called ${params.name}`);
    let count = 0;
    const progressToken = params._meta?.progressToken;
    const progress = async (message: string): Promise<void> => {
      if (progressToken === undefined) return;
      const told = { progressToken, progress: ++count, message };
      await extra.sendNotification({ method: 'notifications/progress', params: told });
    };
    return run({ args: params.arguments ?? {}, signal: extra.signal, server, progress });
  });
  return host;
}
