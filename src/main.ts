import { runLoaded } from './signals.js';

// The flags are those of `serve`: ignoring them would start the service on another port or database than the one given.
if (process.argv.length > 2) {
  process.stderr.write(
    'Diptych cannot start: it takes no arguments here: set environment variables, or pass the flags to `npm run --silent cli -- serve`\n',
  );
  process.exit(2);
}

await runLoaded(async () => {
  const [{ serve }, { processSources }] = await Promise.all([import('./serve.js'), import('./config.js')]);
  return () => serve(processSources());
});
