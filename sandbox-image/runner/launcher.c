/*
 * Starts the bundle's interpreter in an image that may have no C library, or another one.
 *
 * Installed as bin/python3 of a bundle, it finds the bundle from its own place and becomes
 *
 *     lib/ld.so --library-path lib libexec/python -I -X utf8 ARGUMENTS...
 *
 * with bin/python3 as argv[0]. Python derives its prefix from that, so PYTHONHOME is never set, the
 * tree works wherever it lies, and sys.executable can be started again.
 *
 * Variables that steer a loader (LD_PRELOAD and the like) belong to the image's programs. They are
 * kept under another name, and the bundle's sitecustomize gives them back to children.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT "PROCTOR_KEPT_"
#define FIXED_ARGUMENTS 11
#define CANNOT_START 127

extern char **environ;

static void fail(const char *what) {
  fprintf(stderr, "proctor: cannot start Python: %s: %s\n", what, strerror(errno));
  exit(CANNOT_START);
}

static char *join(const char *head, const char *tail) {
  char *text = malloc(strlen(head) + strlen(tail) + 1);
  if (text == NULL) fail("memory");
  return strcat(strcpy(text, head), tail);
}

static char *own_path(void) {
  static char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) fail("/proc/self/exe (is /proc mounted?)");
  path[length] = '\0';
  return path;
}

static char *parent(const char *path) {
  char *folder = join(path, "");
  char *slash = strrchr(folder, '/');
  if (slash != NULL) *slash = '\0';
  return folder;
}

static void keep_loader_variables(void) {
  for (char **entry = environ; *entry != NULL; entry++)
    if (strncmp(*entry, "LD_", 3) == 0) *entry = join(KEPT, *entry);
}

int main(int argc, char **argv) {
  char *self = own_path();
  char *bundle = parent(parent(self));
  char *loader = join(bundle, "/lib/ld.so");
  char *fixed[FIXED_ARGUMENTS] = {
      loader,           "--inhibit-cache",       "--argv0",
      self,             "--library-path",        join(bundle, "/lib"),
      join(bundle, "/libexec/python"), "-I",     "-X",
      "utf8",           NULL,
  };
  char **arguments = calloc(FIXED_ARGUMENTS + argc, sizeof *arguments);
  if (arguments == NULL) fail("memory");
  memcpy(arguments, fixed, sizeof fixed);
  if (argc > 1) memcpy(arguments + FIXED_ARGUMENTS - 1, argv + 1, (argc - 1) * sizeof *argv);

  keep_loader_variables();
  execv(loader, arguments);
  fail(loader);
}
