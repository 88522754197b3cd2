import { codeOf } from './adapters/platform/node/error-code.js';
import { createLog } from './adapters/telemetry/pino/log.js';
import { createApp, type Application } from './app.js';
import { describeStart } from './banner.js';
import { readConfig, type Config, type ConfigSources } from './config.js';
import { ConfigError } from './config/mistakes.js';
import { ENDING_SIGNALS, EXIT_CODES, onSignals, type EndingSignal } from './signals.js';

/**
 * Exit codes: 0 drained, 1 failed, 2 invalid configuration, 128 + signal number after a signal during the start or a
 * second signal.
 */
const FAILED = 1;
const BAD_CONFIGURATION = 2;
/** How long the shutdown may take in addition to the drain timeout before the process exits, in milliseconds. */
const CLOSE_MS = 15_000;
/** The longest delay of a timer: a longer one would fire at once. */
const MAX_DELAY_MS = 2_147_483_647;

/**
 * Runs the service in this process until a signal ends it. Exits the process. Its listeners of signals are there when
 * the call returns its promise.
 */
export async function serve(sources: ConfigSources): Promise<void> {
  ignoreOutputErrors();
  const onSignal = catchSignals();
  let app: Application | undefined;
  let config: Config | undefined;
  try {
    config = await readConfig(sources);
    app = await unlessUncaught(createApp(config));
    watchCrashes(app);
    onSignal(createDrain(app, config));
    const url = await app.listen();
    announce(app, config, url);
  } catch (error) {
    const reason = startFailure(error);
    process.stderr.write(`${reason}\n`);
    // Without a configuration, the level of the log is unknown.
    const log = app?.log ?? (config && createLog({ level: config.logLevel }));
    log?.error({ reason, err: error }, 'failed to start');
    await app?.close().catch((failure: unknown) => {
      log?.error({ err: failure }, 'failed to close');
    });
    process.exit(error instanceof ConfigError ? BAD_CONFIGURATION : FAILED);
  }
}

/**
 * Logs the start and prints the banner. The banner goes to stderr, so that it does not mix with the log lines on
 * stdout, unless stdout is a terminal.
 */
function announce({ log, version, rigs, hasPage }: Application, config: Config, url: string): void {
  // A URL with the zone of a link-local address (RFC 6874) is none that `URL` can parse.
  const port = Number(url.slice(url.lastIndexOf(':') + 1));
  log.info(
    { url, host: config.host, port, surfaces: config.surfaces, version, pid: process.pid },
    'listening',
  );
  const out = process.stdout.isTTY ? process.stdout : process.stderr;
  out.write(`${describeStart(config, { url, version, rigs, hasPage })}\n`);
}

/** Keeps running when a banner cannot be printed, for example to a file on a full disk. */
function ignoreOutputErrors(): void {
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
}

/**
 * Settles like the promise, or rejects with an error that nothing catches while the promise is pending, such as one of
 * a tool module.
 */
function unlessUncaught<T>(starting: Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    process.on('uncaughtException', reject);
    process.on('unhandledRejection', reject);
    void starting.then(resolve, reject).finally(() => {
      process.off('uncaughtException', reject);
      process.off('unhandledRejection', reject);
    });
  });
}

/** Exits on an uncaught error. State is durable, so a restart is safer than continuing. */
function watchCrashes({ log }: Application): void {
  const crash = (error: unknown): void => {
    log.error(
      { err: error instanceof Error ? error : new Error('not an error', { cause: error }) },
      'crashed',
    );
    process.stderr.write('Diptych crashed; the log has the details.\n');
    process.exit(FAILED);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
}

/** Exits on a signal, until the returned function replaces that by another listener. */
function catchSignals(): (replacement: (signal: EndingSignal) => void) => void {
  let listener = (signal: EndingSignal): void => process.exit(EXIT_CODES[signal]);
  onSignals(ENDING_SIGNALS, (signal) => {
    listener(signal);
  });
  // Without a listener, Node opens its inspector.
  process.on('SIGUSR1', () => undefined);
  return (replacement) => (listener = replacement);
}

/** Creates the listener of a running service: the first signal drains; a second one exits immediately. */
function createDrain(app: Application, config: Config): (signal: EndingSignal) => void {
  let ending = false;
  return (signal) => {
    if (ending) process.exit(EXIT_CODES[signal]);
    ending = true;
    app.log.info({ signal }, 'draining');
    if (process.stderr.isTTY) process.stderr.write('\nDraining; press Ctrl-C again to exit immediately.\n');
    setTimeout(
      () => {
        app.log.error({}, 'shutdown timed out');
        process.exit(FAILED);
      },
      Math.min(config.drainTimeoutMs + CLOSE_MS, MAX_DELAY_MS),
    ).unref();
    end(app).catch((error: unknown) => {
      app.log.error({ err: error }, 'shutdown failed');
      process.exit(FAILED);
    });
  };
}

async function end(app: Application): Promise<void> {
  await app.drain();
  await app.close();
  app.log.info({}, 'stopped');
  process.exit(0);
}

function startFailure(error: unknown): string {
  if (error instanceof ConfigError) {
    const lines = error.mistakes.map(({ where, what }) => `  ${where}: ${what}`);
    return `Diptych cannot start: the configuration has ${String(lines.length)} mistake${lines.length === 1 ? '' : 's'}:\n${lines.join('\n')}`;
  }
  if (!(error instanceof Error)) return `Diptych cannot start: ${String(error)}`;
  const code = codeOf(error);
  const place = 'port' in error ? `port ${String(error.port)}` : 'the port';
  if (code === 'EADDRINUSE') {
    return `Diptych cannot start: ${place} is in use by another process; set PORT to a free one (0: any)`;
  }
  if (code === 'EACCES' && 'port' in error) {
    return `Diptych cannot start: ${place} needs privileges; set PORT to 1024 or above`;
  }
  if (code === 'EINVAL' && 'address' in error) {
    return 'Diptych cannot start: HOST needs the name of the interface after a link-local address, such as fe80::1%eth0';
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'ENOTFOUND') {
    return 'Diptych cannot start: HOST is not an address of this machine; 127.0.0.1 and 0.0.0.0 always work';
  }
  return `Diptych cannot start: ${error.message}`;
}
