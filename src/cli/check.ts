import { Command } from 'commander';
import { openStore } from '../composition/data.js';
import { readLogo } from '../composition/logo.js';
import { createRigs } from '../composition/rigs.js';
import { createOwnTools } from '../composition/tools.js';
import { createSchemas } from '../adapters/tools/schema/schemas.js';
import { ConfigError, refuseMistakes } from '../config/mistakes.js';
import { describeDatabase } from '../config/network.js';
import { findDangling } from '../config/references.js';
import type { Config } from '../config.js';
import type { Rig } from '../core/ports/rig.js';
import type { Store } from '../core/ports/store.js';
import { WALLET_TOOLS } from '../core/wallet/wallet-tools.js';
import { missingKeys } from '../core/access/secret-rotation.js';
import { sealerOf } from './secrets.js';
import { configOf, withConfig, type ConfigFlags } from './configured.js';
import { colourful, printable, printJson, styled, type Terminal } from './terminal.js';

/** Timeout of an endpoint, in milliseconds. */
const ENDPOINT_MS = 15_000;
/** Timeout of a model request, in milliseconds: a server may have to load the model. */
const ASK_MS = 120_000;

interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

interface CheckFlags extends ConfigFlags {
  readonly ask?: boolean;
  readonly json?: boolean;
}

/** `check`: reports whether the service can start and reach what it depends on. */
export function checkCommand(terminal: Terminal): Command {
  return withConfig(new Command('check'))
    .description(
      'check the configuration, the store, Redis, and the endpoint of each rig and chain; report all problems',
    )
    .option('--ask', 'send each rig one small request with a tool, which may be billed')
    .option('--json', 'print JSON')
    .action(async (flags: CheckFlags) => {
      const findings = await findAll(flags);
      const ok = findings.every((finding) => finding.ok);
      if (flags.json === true) printJson(terminal, { ok, checks: findings });
      else {
        const isColourful = colourful(terminal, terminal.output);
        for (const { name, ok: fine, message } of findings) {
          const mark = fine ? styled('green', 'ok  ', isColourful) : styled('red', 'FAIL', isColourful);
          terminal.output.write(`${mark}  ${printable(`${name}: ${message}`)}\n`);
        }
      }
      if (!ok) terminal.setExitCode(1);
    });
}

async function findAll(flags: CheckFlags): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = await configOf(flags);
  } catch (error) {
    return mistakes(error);
  }
  const configuration: Finding = {
    name: 'configuration',
    ok: true,
    message: config.file ?? 'no file; read from the environment',
  };
  const data = Promise.all([checkData(config), checkBus(config)]).then((found) => found.flat());
  try {
    const [rigs, tools] = await Promise.all([createRigs(config), createOwnTools(config, createSchemas())]);
    const toolNames = [
      ...tools.map(({ name }) => name),
      ...(config.tools.chains.length > 0 ? WALLET_TOOLS : []),
    ];
    refuseMistakes(findDangling(config, { rigs: rigs.map(({ id }) => id), tools: toolNames }));
    await readLogo(config);
    const answers = rigs.map((rig) => checkRig(rig, flags.ask === true));
    const chains = checkChains(config);
    return [configuration, ...(await data), ...(await chains), ...(await Promise.all(answers))];
  } catch (error) {
    return [...mistakes(error), ...(await data)];
  }
}

/** @param ask whether to send a request to the model */
function checkRig(rig: Rig, ask: boolean): Promise<Finding> {
  const limit = ask ? ASK_MS : ENDPOINT_MS;
  const fine = ask && rig.provider !== 'demo' ? 'answers a request' : 'answers';
  return attempt(`rig ${rig.id}`, fine, () => rig.check(AbortSignal.timeout(limit), { ask }), limit);
}

/** Checks the store, and that the keys of its secrets are configured. */
async function checkData(config: Config): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const store = await attempt('store', describeDatabase(config.database), async () => {
    const opened = await openStore(config);
    try {
      await opened.store.check();
      findings.push(...opened.missing.map((message) => ({ name: 'data', ok: false, message })));
      findings.push(
        await attempt('secrets', 'their keys are configured', () => checkSecrets(opened.store, config)),
      );
    } finally {
      await opened.close();
    }
  });
  return [store, ...findings];
}

async function checkSecrets(store: Store, config: Config): Promise<void> {
  // Without stored secrets no key is needed yet; the service creates one.
  if ((await store.secretKeyIds()).length === 0) return;
  const missing = await missingKeys(store, await sealerOf(config));
  if (missing.length === 0) return;
  const which = missing.length === 1 ? 'the key' : 'the keys';
  throw new Error(
    `some stored values need ${which} ${missing.join(', ')}: add ${missing.length === 1 ? 'it' : 'them'} to SECRETS_KEY, after the newest`,
  );
}

async function checkBus({ redisUrl }: Config): Promise<readonly Finding[]> {
  if (redisUrl === null) return [];
  const { checkRedis } = await import('../adapters/bus/redis/check.js');
  return [await attempt('redis', 'answers', () => checkRedis(redisUrl))];
}

async function checkChains({ tools }: Config): Promise<readonly Finding[]> {
  if (tools.chains.length === 0) return [];
  const { checkChain } = await import('../adapters/tools/evm/check.js');
  return Promise.all(
    tools.chains.map((chain) =>
      attempt(`chain ${String(chain.id)} (${chain.name})`, 'answers', () => checkChain(chain, ENDPOINT_MS)),
    ),
  );
}

function mistakes(error: unknown): Finding[] {
  if (!(error instanceof ConfigError)) throw error;
  return error.mistakes.map(({ where, what }) => ({
    name: 'configuration',
    ok: false,
    message: `${where}: ${what}`,
  }));
}

/** @param limit the timeout of the work, in milliseconds */
async function attempt(
  name: string,
  fine: string,
  work: () => Promise<void>,
  limit = ENDPOINT_MS,
): Promise<Finding> {
  try {
    await work();
    return { name, ok: true, message: fine };
  } catch (error) {
    return { name, ok: false, message: messageOf(error, limit) };
  }
}

function messageOf(error: unknown, limit: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `did not answer within ${String(limit / 1000)} s`;
  return error.message;
}
