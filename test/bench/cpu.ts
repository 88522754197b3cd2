import { readFileSync } from 'node:fs';

/** Ticks a second of the counters in /proc, on every Linux that Node runs on. */
const TICKS = 100;

/** Seconds of CPU that a process has taken. @throws where there is no /proc */
export function cpuSeconds(pid: number): number {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Seconds of CPU that all of the machine has taken. */
export function busySeconds(): number {
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = first
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq) / TICKS;
}
