import type { WeatherActor } from './actor.js';
import { cut, databaseRestart, partition } from './database.js';
import { databaseClock } from './database-clock.js';
import { descriptors } from './descriptors.js';
import { drain } from './drain.js';
import { files } from './files.js';
import { freeze } from './freeze.js';
import { kill } from './kill.js';
import { nodeClock } from './node-clock.js';
import { redisAndNode, redisAway } from './redis.js';

/** Every kind of weather. A new one is a file beside this one, and a line here. */
export const WEATHER: readonly WeatherActor[] = [
  kill,
  drain,
  freeze,
  nodeClock,
  databaseClock,
  redisAway,
  redisAndNode,
  cut,
  partition,
  databaseRestart,
  files,
  descriptors,
];
