import { Command } from 'commander';
import { processSources } from '../config.js';
import { serve } from '../serve.js';

/** The flags, with the environment variable that each overrides. */
const FLAGS = [
  ['HOST', '--host <address>', 'address to listen on'],
  ['PORT', '--port <number>', 'port to listen on; 0: any free one'],
  ['SURFACES', '--surfaces <names>', 'current, legacy and field, or some of them, separated by commas'],
  ['DATABASE_URL', '--database-url <url>', 'the database, such as sqlite:./data/diptych.db'],
  ['CONFIG_FILE', '--config <file>', 'configuration file'],
  ['LOG_LEVEL', '--log-level <level>', 'trace, debug, info, warn, error, fatal or silent'],
  ['CORS_ORIGINS', '--cors-origins <origins>', '* or a comma-separated list of origins'],
  ['RATE_LIMIT', '--rate-limit <number>', 'requests per minute and address; 0: no limit'],
  ['TRUST_PROXY', '--trust-proxy <value>', "like Express's setting"],
  [
    'DRAIN_TIMEOUT',
    '--drain-timeout <seconds>',
    'how long running turns may take to finish on Ctrl-C, SIGTERM and SIGHUP',
  ],
  ['DEMO_TOKEN_MS', '--demo-token-ms <number>', 'speed of the demo rig, in milliseconds per token'],
] as const;

/** `serve`: runs the service, like `npm start`. */
export function serveCommand(): Command {
  const command = new Command('serve').description('run the service; Ctrl-C, SIGTERM and SIGHUP drain it');
  for (const [variable, flag, description] of FLAGS) command.option(flag, `${description} (${variable})`);
  return command.action(async (_flags: unknown, self: Command) => {
    const overrides = command.options.map((option, index) => {
      const value: unknown = self.getOptionValue(option.attributeName());
      return [FLAGS[index]?.[0] ?? '', typeof value === 'string' ? value : undefined] as const;
    });
    await serve(processSources(Object.fromEntries(overrides)));
  });
}
