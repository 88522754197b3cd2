/** Imports the modules that the service imports when it starts, and nothing else: their URLs are lines of a file. */
import { readFileSync } from 'node:fs';

const [, , list] = process.argv;
for (const url of readFileSync(list, 'utf8').trim().split('\n')) await import(url);
process.exit(0);
