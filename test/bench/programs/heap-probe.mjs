/** Loaded before the service: on SIGUSR2 it collects garbage, and writes how many bytes of the heap are alive to `heap.txt`. */
import { writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  globalThis.gc();
  setTimeout(() => {
    globalThis.gc();
    writeFileSync('heap.txt', String(process.memoryUsage().heapUsed));
  }, 500);
});
