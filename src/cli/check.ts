import { Command } from 'commander';
import { CHANNEL_PREFIX } from '../composition/data.js';
import { readLogo } from '../composition/logo.js';
import { createRigs } from '../composition/rigs.js';
import { createOwnTools, toolMistakes } from '../composition/tools.js';
import { createSchemas } from '../adapters/tools/schema/schemas.js';
import { ConfigError, refuseMistakes } from '../config/mistakes.js';
import { findDangling } from '../config/references.js';
import type { Config } from '../config.js';
import type { Rig } from '../core/ports/rig.js';
import { WALLET_TOOLS } from '../core/wallet/wallet-tools.js';
import { checkData } from './check-data.js';
import { configOf, withConfig, type ConfigFlags } from './configured.js';
import { attempt, ENDPOINT_MS, type Finding } from './finding.js';
import { colourful, printable, printJson, styled, writeAll, type Terminal } from './terminal.js';

/** Timeout of a model request, in milliseconds: a server may have to load the model. */
const ASK_MS = 120_000;

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
        for (const finding of findings) {
          const mark = styled(...markOf(finding), isColourful);
          terminal.output.write(`${mark}  ${printable(`${finding.name}: ${finding.message}`)}\n`);
        }
      }
      if (!ok) terminal.setExitCode(1);
      await writeAll(terminal, '').catch(() => undefined);
      // A tool module can hold timers and connections.
      terminal.exit();
    });
}

function markOf({ ok, warning }: Finding): [color: 'green' | 'yellow' | 'red', mark: string] {
  if (!ok) return ['red', 'FAIL'];
  return warning === true ? ['yellow', 'WARN'] : ['green', 'ok  '];
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
  // First and alone: reading a large SQLite file can block the process for longer than the other checks' timeouts.
  const data = await checkData(config);
  const bus = checkBus(config);
  try {
    refuseMistakes(await toolMistakes(config));
    const [rigs, tools] = await Promise.all([createRigs(config), createOwnTools(config, createSchemas())]);
    const toolNames = [
      ...tools.map(({ name }) => name),
      ...(config.tools.chains.length > 0 ? WALLET_TOOLS : []),
    ];
    refuseMistakes(findDangling(config, { rigs: rigs.map(({ id }) => id), tools: toolNames }));
    await readLogo(config);
    const answers = rigs.map((rig) => checkRig(rig, flags.ask === true));
    const chains = checkChains(config);
    return [configuration, ...data, ...(await bus), ...(await chains), ...(await Promise.all(answers))];
  } catch (error) {
    return [...mistakes(error), ...data, ...(await bus)];
  }
}

/** @param ask whether to send a request to the model */
function checkRig(rig: Rig, ask: boolean): Promise<Finding> {
  const limit = ask ? ASK_MS : ENDPOINT_MS;
  const fine = ask && rig.provider !== 'demo' ? 'answers a request' : 'answers';
  return attempt(`rig ${rig.id}`, fine, () => rig.check(AbortSignal.timeout(limit), { ask }), limit);
}

async function checkBus({ redisUrl, redisPrefix }: Config): Promise<readonly Finding[]> {
  if (redisUrl === null) return [];
  const { checkRedis } = await import('../adapters/bus/redis/check.js');
  return [await attempt('redis', 'answers', () => checkRedis(redisUrl, redisPrefix ?? CHANNEL_PREFIX))];
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
