/*
 * Loaded into PostgreSQL by LD_PRELOAD: shifts the wall clock by the seconds in the file CHAOS_CLOCK_FILE, a
 * little-endian int64 (clock-file.ts). The monotonic clock stays as it is.
 *
 * The file is mapped into memory. PostgreSQL reads the clock in signal handlers too, where a function that allocates or
 * locks, as reading a file with the C library does, can find the heap of the interrupted code half changed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;

__attribute__((constructor)) static void map_offset(void) {
  const char *path = getenv("CHAOS_CLOCK_FILE");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    perror("CHAOS_CLOCK_FILE");
    abort();
  }
  close(file);
  offset = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  long result = syscall(SYS_clock_gettime, clock, at);
  int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_wall && offset != NULL) at->tv_sec += *offset;
  return (int)result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (at != NULL) *at = now.tv_sec;
  return now.tv_sec;
}
