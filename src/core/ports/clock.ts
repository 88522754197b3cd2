/** Time and chance, passed in so that a test can hold them. */
export interface Clock {
  /**
   * The wall clock, in milliseconds since the epoch. For times that are stored, shown or compared with such times. An
   * administrator or NTP may set it forward or back at any moment, so the difference of two readings is not a length of
   * time.
   */
  now(): number;
  /**
   * The steady clock, in milliseconds since some moment of this process. For ages, timeouts and every other length of
   * time: it only goes forward, and at the pace of real time. Its readings mean nothing to another process.
   */
  monotonic(): number;
  /** A new unique id: a UUID. */
  newId(): string;
}
