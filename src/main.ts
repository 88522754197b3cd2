import { runLoaded } from './signals.js';

await runLoaded(async () => {
  const [{ serve }, { processSources }] = await Promise.all([import('./serve.js'), import('./config.js')]);
  return () => serve(processSources());
});
