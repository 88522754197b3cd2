import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** The server has one core, everything else the other, where `taskset` can say so. */
export const SERVER_CORE = '0';
const LOAD_CORE = '1';

/** Ticks a second of the counters in /proc/PID/stat, on every Linux that Node runs on. */
const TICKS = 100;

/** True when processes can be bound to a core here. */
export const canPin = existsSync('/usr/bin/taskset') && cpus().length > 1;

/** Binds this process, and what it starts without another word, to the core of the load. */
export function pinLoad(): void {
  pin(process.pid, LOAD_CORE);
}

/** Binds a process and its children, and what they start from now on, to the core of the server. */
export function pinToServer(pid: number): void {
  for (const id of [pid, ...childrenOf(pid)]) pin(id, SERVER_CORE);
}

function pin(pid: number, core: string): void {
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' });
}

function childrenOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

/** The CPU time that a process has used so far, all threads together, in seconds. Reads /proc (Linux). */
export function cpuSeconds(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${String(pid)}/task`)) {
    const times = readFileSync(`/proc/${String(pid)}/task/${thread}/schedstat`, 'utf8');
    nanoseconds += Number(times.split(' ', 1)[0]);
  }
  return nanoseconds / 1e9;
}

/**
 * The CPU time that a process and its children have used so far, those that have ended included, in seconds. PostgreSQL
 * has a process for each connection. Reads /proc (Linux).
 */
export function familyCpuSeconds(pid: number): number {
  const fields =
    readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  let seconds = cpuSeconds(pid) + (Number(fields[13]) + Number(fields[14])) / TICKS;
  for (const child of childrenOf(pid)) {
    try {
      seconds += cpuSeconds(child);
    } catch {
      // It has ended since: its time is in the parent's counters at the next look.
    }
  }
  return seconds;
}

/** The resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? NaN) * 1024;
}

/** The largest resident memory that a process ever had, in bytes. */
export function peakBytes(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? NaN) * 1024;
}

/** Microseconds of the clock that all processes of this machine share. */
export function sharedMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The value at a share of the sorted values: 0.5 is the median. NaN when there is none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
