#!/usr/bin/env node
import { runLoaded } from '../signals.js';

await runLoaded(async () => (await import('./command-line.js')).runCommand);
