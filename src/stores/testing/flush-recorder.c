/*
 * Loaded before a program (LD_PRELOAD): writes down what it writes to the files of one folder, and when it flushes
 * them, in order. FLUSH_RECORD is the record, FLUSH_FOLDER the folder; where they are not set, nothing is
 * written down. FLUSH_MICROSECONDS makes each flush take that much longer, as on a slower disk.
 *
 * A line for each call: w <file> <offset> <hex> | t <file> <length> | b <file> (a flush begins) | f <file> (it is done).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *record;
static const char *folder;

/* The name of the file below the folder, or null. Called with the lock held. */
static const char *name_of(int fd, char *path, size_t size) {
  char link[64];
  if (folder == NULL) {
    folder = getenv("FLUSH_FOLDER");
    const char *to = getenv("FLUSH_RECORD");
    if (folder != NULL && to != NULL) record = fopen(to, "a");
  }
  if (record == NULL) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  if (length <= 0) return NULL;
  path[length] = 0;
  size_t prefix = strlen(folder);
  return strncmp(path, folder, prefix) == 0 && path[prefix] == '/' ? path + prefix + 1 : NULL;
}

static void note(char kind, int fd, long long number, const unsigned char *bytes, size_t count) {
  char path[4096];
  pthread_mutex_lock(&lock);
  const char *name = name_of(fd, path, sizeof path);
  if (name != NULL) {
    fprintf(record, "%c %s %lld ", kind, name, number);
    for (size_t at = 0; at < count; at++) fprintf(record, "%02x", bytes[at]);
    fputc('\n', record);
    fflush(record);
  }
  pthread_mutex_unlock(&lock);
}

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  note('w', fd, offset, bytes, count);
  return NEXT(ssize_t (*)(int, const void *, size_t, off64_t), "pwrite64")(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  note('w', fd, offset, bytes, count);
  return NEXT(ssize_t (*)(int, const void *, size_t, off_t), "pwrite")(fd, bytes, count, offset);
}

int ftruncate64(int fd, off64_t length) {
  note('t', fd, length, NULL, 0);
  return NEXT(int (*)(int, off64_t), "ftruncate64")(fd, length);
}

int ftruncate(int fd, off_t length) {
  note('t', fd, length, NULL, 0);
  return NEXT(int (*)(int, off_t), "ftruncate")(fd, length);
}

static void wait_as_asked(void) {
  const char *asked = getenv("FLUSH_MICROSECONDS");
  if (asked != NULL) usleep((useconds_t)atoi(asked));
}

static int flushed(int fd, const char *call) {
  note('b', fd, 0, NULL, 0);
  wait_as_asked();
  int result = NEXT(int (*)(int), call)(fd);
  if (result == 0) note('f', fd, 0, NULL, 0);
  return result;
}

int fdatasync(int fd) { return flushed(fd, "fdatasync"); }

int fsync(int fd) { return flushed(fd, "fsync"); }
