import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { toolsOf, type ToolConfig } from './config/tools.js';
import { appsOf, limitsOf, rigsOf, type RigConfig } from './config/contents.js';
import { modelMistakes, modelRigs } from './config/model-variables.js';
import {
  crossCheck,
  isSet,
  openaiBaseUrl,
  KEYED_PROVIDERS,
  PROVIDER_KEYS,
  type KeyedProvider,
} from './config/crosscheck.js';
import { pathText, readYaml } from './config/file.js';
import { pageOf, type PageSettings } from './config/page.js';
import { ConfigError, refuseMistakes, type Mistake } from './config/mistakes.js';
import * as network from './config/network.js';
import { tracesOf } from './config/traces.js';
import * as settings from './config/settings.js';
import { surfaceMistakes, surfacesOf } from './config/surfaces.js';
import type { FileContents } from './config/schema.js';
import type { App, BusyStrategy } from './core/model/app.js';
import { isJsonObject } from './core/model/json.js';

const DEFAULT_FILE = 'diptych.yaml';

/** The sources of the configuration. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Command-line flags, by the name of the variable that they override. */
  readonly overrides?: Readonly<Record<string, string | undefined>>;
  /** The base directory of relative paths. */
  readonly cwd: string;
  /**
   * Reads a text file.
   * @throws an error with the code `ENOENT` when the file does not exist
   */
  readonly readFile: (path: string) => string;
}

/** The configuration sources of this process. */
export function processSources(overrides: Readonly<Record<string, string | undefined>> = {}): ConfigSources {
  const { env } = process;
  return { env, overrides, cwd: process.cwd(), readFile: (path) => readFileSync(path, 'utf8') };
}

/** The complete configuration. Times are in milliseconds. */
export type Config = Awaited<ReturnType<typeof readConfig>>;

/**
 * Reads the configuration. Precedence: overrides, environment, file, defaults. A blank value counts as not set.
 * @throws ConfigError that lists all mistakes and shows no secret
 */
export async function readConfig(sources: ConfigSources) {
  const { env, overrides = {}, cwd } = sources;
  const file = await readContents(sources);
  const given = file.settings;
  const reader = new settings.SettingsReader((name) => {
    const flag = overrides[name];
    if (isSet(flag)) return { text: flag, where: flagOf(name), quotable: true };
    const variable = env[name];
    if (isSet(variable)) return { text: variable, where: name, quotable: true };
    const value = given[name];
    if (!isSet(value)) return undefined;
    return { text: value, where: `${file.name}: settings.${name}`, quotable: false };
  });
  const { integer, seconds, secondsUpTo, oneOf, isoDate } = settings;
  const secret = { secret: true };
  const database = reader.read<network.DatabaseLocation>(
    'DATABASE_URL',
    { kind: 'sqlite', path: './data/diptych.db' },
    network.databaseUrl,
    secret,
  );
  const read = {
    host: reader.read('HOST', '127.0.0.1', network.listenAddress),
    /** 0: any free port. */
    port: reader.read('PORT', 8080, integer(0, 65_535)),
    ...surfacesOf(reader),
    /** Whether the chat page is served at `/`. */
    page: reader.read('PAGE', true, settings.onOff),
    database: located(database, cwd),
    /** Whether PostgreSQL prepares statements by name, once per connection. */
    preparesStatements: reader.read('DATABASE_PREPARED', true, settings.onOff),
    redisUrl: reader.read('REDIS_URL', null, network.redisUrl, secret),
    /** Prefix of channel names, for deployments that share a Redis; null: the default. */
    redisPrefix: reader.read('REDIS_PREFIX', null, settings.text),
    /** Newest first, in base64; null: one is generated beside the database. */
    secretsKeys: reader.read('SECRETS_KEY', null, network.secretsKeys, secret),
    /** Null: loopback origins when `HOST` is a loopback address, otherwise `*`. */
    corsOrigins: reader.read<network.CorsOrigins | null>('CORS_ORIGINS', null, network.corsOrigins),
    /** Requests per minute and client address; 0: no limit. */
    rateLimit: reader.read('RATE_LIMIT', 6000, integer(0, 1e9)),
    /** Open streams per client address; 0: no limit. */
    streamLimit: reader.read('STREAM_LIMIT', 1000, integer(0, 1e9)),
    trustProxy: reader.read<network.TrustProxy>('TRUST_PROXY', false, network.trustProxy),
    /** The token for the admin pages; null: there are none. */
    adminToken: reader.read('ADMIN_TOKEN', null, settings.token, secret),
    /** Whether metrics are collected and served. */
    metrics: reader.read('METRICS', true, settings.onOff),
    /** The token for the metrics; null: only this machine may read them. */
    metricsToken: reader.read('METRICS_TOKEN', null, settings.token, secret),
    /** Null: no traces. */
    traces: tracesOf(reader),
    logLevel: reader.read(
      'LOG_LEVEL',
      'info',
      oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    ),
    maxMessageBytes: reader.read('MAX_MESSAGE_BYTES', 65_536, integer(1, 1_048_576)),
    maxSessionBytes: reader.read('MAX_SESSION_BYTES', 33_554_432, integer(1_048_576, 1_073_741_824)),
    maxSecretsBytes: reader.read('MAX_SECRETS_BYTES', 67_108_864, integer(1_048_576, 1e12)),
    maxQueued: reader.read('MAX_QUEUED', 50, integer(0, 10_000)),
    maxSteps: reader.read('MAX_STEPS', 16, integer(1, 1000)),
    turnTimeoutMs: reader.read('TURN_TIMEOUT', 600_000, seconds),
    toolTimeoutMs: reader.read('TOOL_TIMEOUT', 60_000, seconds),
    busyStrategy: reader.read<BusyStrategy>(
      'BUSY_STRATEGY',
      'enqueue',
      oneOf(['enqueue', 'interrupt', 'reject']),
    ),
    eventsKept: reader.read('EVENTS_KEPT', 1000, integer(1, 1_000_000)),
    sseKeepaliveMs: reader.read('SSE_KEEPALIVE', 15_000, secondsUpTo(60)),
    drainTimeoutMs: reader.read('DRAIN_TIMEOUT', 10_000, seconds),
    /** Threads without activity for this long are deleted; null: never. */
    retentionMs: reader.read('RETENTION_DAYS', null, settings.daysOrOff),
    demoTokenMs: reader.read('DEMO_TOKEN_MS', 15, integer(0, 60_000)),
    /** `off`: a wallet address is accepted without proof of ownership. */
    walletProof: reader.read('WALLET_PROOF', 'off', settings.offOrRequired),
    /** The sites whose sign-in messages are accepted. */
    walletProofDomains: reader.read('WALLET_PROOF_DOMAINS', null, network.siteNames),
    /** The chains whose contract wallets may sign in, home chain first; null: the first configured chain. */
    walletProofChains: reader.read('WALLET_PROOF_CHAINS', null, network.chainIds),
    /** How long a wallet request waits for its outcome. */
    walletRequestMs: reader.read('WALLET_REQUEST_TTL', 86_400_000, seconds),
    /** How long the service looks for a reported transaction on its chain. */
    walletConfirmMs: reader.read('WALLET_CONFIRM_TIMEOUT', 90_000, seconds),
    legacy: {
      deprecatedAt: reader.read('LEGACY_DEPRECATED_AT', null, isoDate),
      sunsetAt: reader.read('LEGACY_SUNSET_AT', null, isoDate),
      link: reader.read('LEGACY_LINK', null, settings.webUrl),
      /** Called once when the legacy surface may be switched off; null: nothing is called. */
      webhook: reader.read('LEGACY_WEBHOOK', null, settings.webUrl, secret),
      /** How many days without a legacy request must have passed. */
      webhookDays: reader.read('LEGACY_WEBHOOK_DAYS', 30, integer(1, 400)),
    },
  };
  const known = reader.names.join(', ');
  const unknown = Object.keys(given)
    .filter((name) => !reader.names.includes(name))
    .map((name) => ({
      where: `${file.name}: settings.${name}`,
      what: `is not a setting; there are ${known}`,
    }));
  const unsealed =
    database.kind === 'postgres' && read.secretsKeys === null
      ? [
          {
            where: 'SECRETS_KEY',
            what: 'is needed with PostgreSQL, the same on every node: `openssl rand -base64 32` generates one',
          },
        ]
      : [];
  const siteless =
    read.walletProof === 'required' && read.walletProofDomains === null
      ? [
          {
            where: 'WALLET_PROOF_DOMAINS',
            what: 'is needed with WALLET_PROOF=required: the hosts of the pages where wallets sign in, such as app.example.org',
          },
        ]
      : [];
  const configured = file.contents?.chains?.map(({ id }) => id) ?? [];
  // If the file is invalid, its own mistakes are reported instead.
  const unknownChains = (file.mistakes.length > 0 ? [] : (read.walletProofChains ?? []))
    .filter((id) => !configured.includes(id))
    .map((id) => ({
      where: 'WALLET_PROOF_CHAINS',
      what: `names chain ${String(id)}, which is not configured; there are ${configured.length === 0 ? 'none' : configured.join(', ')}`,
    }));
  refuseMistakes([
    ...reader.mistakes,
    ...unknownChains,
    ...unsealed,
    ...settings.endMistakes(read.legacy),
    ...siteless,
    ...surfaceMistakes(read),
    ...modelMistakes(env, file),
    ...file.mistakes,
    ...unknown,
  ]);

  const apps: readonly App[] = appsOf(file.contents?.apps ?? [], configured.length > 0);
  const rigs: readonly RigConfig[] = rigsOf(file.contents?.rigs ?? [], env);
  const tools: ToolConfig = toolsOf(file.contents);
  const pageSettings: PageSettings = pageOf(file.contents?.page);
  const limits = limitsOf(file.contents?.limits);
  return {
    ...read,
    apps,
    rigs,
    /** The rigs that `MODEL` names. Registered when no rig is configured. */
    modelRigs: modelRigs(env),
    tools,
    limits,
    pageSettings,
    providerKeys: providerKeys(env),
    childEnvironment: env,
    file: file.path,
  };
}

/** Resolves the path of a SQLite database relative to the working directory. */
function located(database: network.DatabaseLocation, cwd: string): network.DatabaseLocation {
  if (database.kind === 'postgres' || database.path === null) return database;
  return { kind: 'sqlite', path: resolve(cwd, database.path) };
}

/**
 * The API keys in the environment. They register a provider's default models when no rig is configured. The key of
 * OpenAI registers none beside `MODEL` or `OPENAI_BASE_URL`: it is then the key of another address, or of other models.
 */
function providerKeys(env: ConfigSources['env']): Readonly<Partial<Record<KeyedProvider, string>>> {
  const hasModels = isSet(env.MODEL) || openaiBaseUrl(env) !== undefined;
  const set = KEYED_PROVIDERS.filter((provider) => provider !== 'openai' || !hasModels).map(
    (provider) => [provider, env[PROVIDER_KEYS[provider]]] as const,
  );
  return Object.fromEntries(set.filter(([, key]) => isSet(key)));
}

interface ReadFile {
  /** The name of the file in messages. */
  readonly name: string;
  /** Null when there is no file. */
  readonly path: string | null;
  /** The section `settings`, even when other sections are invalid. */
  readonly settings: Readonly<Record<string, string>>;
  readonly contents: FileContents | undefined;
  /** Whether the file lists rigs, valid or not. */
  readonly hasRigs: boolean;
  readonly mistakes: readonly Mistake[];
}

const NOTHING = { settings: {}, contents: undefined, hasRigs: false } as const;

async function readContents({ env, overrides, cwd, readFile }: ConfigSources): Promise<ReadFile> {
  const flag = overrides?.CONFIG_FILE;
  const asked = [flag, env.CONFIG_FILE].find(isSet)?.trim();
  const name = asked ?? DEFAULT_FILE;
  const path = isAbsolute(name) ? name : join(cwd, name);
  const where = isSet(flag) ? flagOf('CONFIG_FILE') : 'CONFIG_FILE';
  let source: string;
  try {
    source = readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' && asked === undefined) return { name, path: null, ...NOTHING, mistakes: [] };
    const what =
      code === 'ENOENT' ? `there is no file ${path}` : `${path} cannot be read (${String(code ?? error)})`;
    return { name, path, ...NOTHING, mistakes: [{ where, what }] };
  }
  // Loaded on demand: zod and yaml are too slow to load for a start without a configuration file.
  const { checkFile } = await import('./config/schema.js');
  try {
    const { tree, unset } = await readYaml(source, name, env);
    const missing = unset.map(({ path: at, variable }) => ({
      where: `${name}: ${pathText(at)}`,
      what: `the environment variable ${variable} is not set`,
    }));
    const checked = checkFile(
      tree,
      name,
      unset.map(({ path: at }) => at),
    );
    const mistakes = [...missing, ...checked.mistakes, ...crossCheck(tree, name, env)];
    const given = settingsIn(tree, new Set(unset.map(({ path: at }) => pathText(at))));
    const hasRigs = isJsonObject(tree) && Array.isArray(tree.rigs) && tree.rigs.length > 0;
    return { name, path, settings: given, contents: checked.contents, hasRigs, mistakes };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { name, path, ...NOTHING, mistakes: error.mistakes };
  }
}

/** The settings of a file as text, without those that refer to an unset variable. */
function settingsIn(tree: unknown, unset: ReadonlySet<string>): Readonly<Record<string, string>> {
  const given: unknown = isJsonObject(tree) ? tree.settings : undefined;
  const entries = isJsonObject(given) ? Object.entries(given) : [];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => {
      const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      return isScalar && !unset.has(`settings.${name}`) ? [[name, String(value)]] : [];
    }),
  );
}

function flagOf(name: string): string {
  return name === 'CONFIG_FILE' ? '--config' : `--${name.toLowerCase().replaceAll('_', '-')}`;
}
