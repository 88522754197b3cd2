import type { WeatherActor } from './actor.js';
import { stepClock } from './node-clock.js';

/** The clock of PostgreSQL steps by an hour and back (services/shifted-clock.c; the monotonic clock stays as it is). */
export const databaseClock: WeatherActor = {
  name: 'database-clock',
  about: 'the clock of PostgreSQL steps an hour forward or back, nodes are killed, and it steps back again',
  share: 2,
  misses: ({ database }) => (database === null ? 'there is no PostgreSQL' : null),
  lacks: ({ database }) =>
    database?.clock === null ? 'a C compiler (cc), and PostgreSQL with initdb' : null,
  play(scene) {
    const clock = scene.site.database?.clock;
    if (clock === undefined || clock === null) throw new Error('PostgreSQL has no clock that can be set');
    return stepClock(scene, {
      ...{ clock, whose: 'PostgreSQL' },
      count: () => {
        scene.figures.count('databaseClockSteps');
      },
    });
  },
};
