/*
 * spank_pyxis_stub: a stand-in for NVIDIA pyxis on a test cluster.
 *
 * Slurm rejects unknown options, so a test that runs the srun lines of a real GPU
 * cluster needs a plugin that registers --container-image and the like. This one
 * registers the options of pyxis 0.24 in srun, sbatch and salloc. It rejects what
 * pyxis rejects (an empty argument, an option given twice with different values, an
 * option together with its opposite), and passes the values to every task of the
 * step:
 *
 *   --container-image=X            PYXIS_STUB_IMAGE=X
 *   --container-mounts=X           PYXIS_STUB_MOUNTS=X
 *   --container-name=X             PYXIS_STUB_NAME=X     (with its :flag)
 *   --container-workdir=X          PYXIS_STUB_WORKDIR=X
 *   --container-save=X             PYXIS_STUB_SAVE=X
 *   --container-env=X              PYXIS_STUB_ENV=X
 *   --container-unshare=X          PYXIS_STUB_UNSHARE=X
 *   --[no-]container-mount-home    PYXIS_STUB_MOUNT_HOME=1|0
 *   --[no-]container-remap-root    PYXIS_STUB_REMAP_ROOT=1|0
 *   --[no-]container-entrypoint    PYXIS_STUB_ENTRYPOINT=1|0
 *   --container-entrypoint-log     PYXIS_STUB_ENTRYPOINT_LOG=1
 *   --container-writable|readonly  PYXIS_STUB_WRITABLE=1|0
 *   --segment=N                    PYXIS_STUB_SEGMENT=N  (see below)
 *
 * There is no container: the task runs directly on the host (but see
 * PYXIS_STUB_BIND below). As with pyxis, options without --container-image or
 * --container-name cause a message ("ignoring ...") and the task runs; the
 * variables are still exported. A step gets its own options and those that Slurm
 * passes on from sbatch and salloc. Variables of these names that are already in
 * the environment are removed.
 *
 * A list given twice (--container-mounts, --container-env, --container-unshare) is
 * not an error, but the task gets only the last one, since Slurm sends slurmstepd
 * one value per option. This is the same with pyxis.
 *
 * With PYXIS_STUB_STRICT=1 in its environment a step fails, as with pyxis, if the
 * image file or the source of a mount does not exist: the message is in the output
 * of the step, and srun exits with 1.
 *
 * With PYXIS_STUB_BIND=1 in the environment of the step, and if Slurm runs as root,
 * each task gets a root directory with the directories of this machine and each SRC
 * mounted at its DST. Commands then find /logs and the like as in a container. A
 * source that does not exist is skipped. The mounts are visible only to the task and
 * end with it.
 *
 * Arguments in plugstack.conf:
 *   sbatch_support=0   do not register in sbatch and salloc (pyxis has the same)
 *
 * --segment is an option of newer Slurm versions (topology/block). For older ones the
 * plugin registers it and only exports it, so that job scripts with it can be
 * submitted.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/spank.h>

SPANK_PLUGIN(pyxis_stub, 1);

enum {
	IMAGE, MOUNTS, NAME, WORKDIR, SAVE, ENVV, UNSHARE, MOUNT_HOME, REMAP_ROOT,
	ENTRYPOINT, ENTRYPOINT_LOG, WRITABLE, SEGMENT, NKEYS
};

/* LAST: a repeated option replaces the value (each component of a job has its own). */
enum kind { TEXT, LIST, FLAG, LAST };

/* The received options, one entry per variable. */
static struct {
	const char *variable; /* name of the variable for the task */
	const char *option;   /* name in messages */
	enum kind kind;
	char *value;
} got[NKEYS] = {
	[IMAGE] = { "PYXIS_STUB_IMAGE", "--container-image", TEXT, NULL },
	[MOUNTS] = { "PYXIS_STUB_MOUNTS", "--container-mounts", LIST, NULL },
	[NAME] = { "PYXIS_STUB_NAME", "--container-name", TEXT, NULL },
	[WORKDIR] = { "PYXIS_STUB_WORKDIR", "--container-workdir", TEXT, NULL },
	[SAVE] = { "PYXIS_STUB_SAVE", "--container-save", TEXT, NULL },
	[ENVV] = { "PYXIS_STUB_ENV", "--container-env", LIST, NULL },
	[UNSHARE] = { "PYXIS_STUB_UNSHARE", "--container-unshare", LIST, NULL },
	[MOUNT_HOME] = { "PYXIS_STUB_MOUNT_HOME", "--[no-]container-mount-home", FLAG, NULL },
	[REMAP_ROOT] = { "PYXIS_STUB_REMAP_ROOT", "--[no-]container-remap-root", FLAG, NULL },
	[ENTRYPOINT] = { "PYXIS_STUB_ENTRYPOINT", "--[no-]container-entrypoint", FLAG, NULL },
	[ENTRYPOINT_LOG] = { "PYXIS_STUB_ENTRYPOINT_LOG", "--container-entrypoint-log", FLAG, NULL },
	[WRITABLE] = { "PYXIS_STUB_WRITABLE", "--container-writable|readonly", FLAG, NULL },
	[SEGMENT] = { "PYXIS_STUB_SEGMENT", "--segment", LAST, NULL },
};

/* The message is on stderr of srun and sbatch; in slurmstepd, on stderr of the step. */
static int fail(const char *what, const char *why)
{
	slurm_error("pyxis-stub: %s: %s", what, why);
	return -1;
}

static int keep(int key, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return fail(got[key].option, "out of memory");
	free(got[key].value);
	got[key].value = copy;
	return 0;
}

static int check_item(int key, char *item)
{
	char *dst;

	if (*item == '\0')
		return fail(got[key].option, "empty entry");
	if (key == UNSHARE && strcmp(item, "net") && strcmp(item, "ipc") && strcmp(item, "uts"))
		return fail(got[key].option, "unknown namespace (net, ipc or uts)");
	if (key != MOUNTS)
		return 0;

	/* SRC[:DST[:FLAGS]] */
	dst = strchr(item, ':');
	if (dst == item || (dst && (dst[1] == '\0' || dst[1] == ':')))
		return fail(got[key].option, "invalid format: must be SRC:DST[:FLAGS]");
	if (*item != '/' && *item != '.' && strncmp(item, "tmpfs:", 6) && strncmp(item, "umount:", 7))
		return fail(got[key].option, "the source must be a path, \"tmpfs\" or \"umount\"");
	if (dst && dst[1] != '/' && dst[1] != '.')
		return fail(got[key].option, "the target must be a path");
	return 0;
}

static int check_list(int key, const char *arg)
{
	char *todo, *rest, *item;
	int rc = 0;

	if (!(todo = rest = strdup(arg)))
		return fail(got[key].option, "out of memory");
	while (!rc && (item = strsep(&rest, ",")))
		rc = check_item(key, item);
	free(todo);
	return rc;
}

static int check_text(int key, const char *arg)
{
	const char *flag;
	char *end;

	if (key == NAME) {
		if (*arg == ':')
			return fail(got[key].option, "empty name");
		flag = strchr(arg, ':');
		if (flag && flag[1] && strcmp(flag, ":auto") && strcmp(flag, ":create") &&
		    strcmp(flag, ":exec") && strcmp(flag, ":no_exec"))
			return fail(got[key].option, "the flag must be auto, create, exec or no_exec");
	}
	if (key == SAVE && arg[strlen(arg) - 1] == '/')
		return fail(got[key].option, "the target is a directory");
	if (key == SEGMENT && (strtol(arg, &end, 10) < 1 || *end))
		return fail(got[key].option, "must be a number of nodes");
	return 0;
}

/* The callback of every option: val is KEY * 2 + (the value of a flag). */
static int take(int val, const char *arg, int remote)
{
	int key = val / 2;
	const char *value = got[key].kind == FLAG ? (val % 2 ? "1" : "0") : arg;

	(void)remote;
	if (!value || *value == '\0')
		return fail(got[key].option, "argument required");
	/* Slurm may call this twice with the same value. */
	if ((got[key].kind == TEXT || got[key].kind == FLAG) && got[key].value && strcmp(got[key].value, value))
		return fail(got[key].option, got[key].kind == FLAG ? "given together with its opposite"
								    : "given more than once");
	if (got[key].kind == LIST && check_list(key, value))
		return -1;
	if ((got[key].kind == TEXT || got[key].kind == LAST) && check_text(key, value))
		return -1;
	return keep(key, value);
}

#define ARG(name, info, key, usage) { (char *)(name), (char *)(info), (char *)("[pyxis-stub] " usage), 1, (key) * 2, take }
#define YES(name, key, usage) { (char *)(name), NULL, (char *)("[pyxis-stub] " usage), 0, (key) * 2 + 1, take }
#define NO(name, key, usage) { (char *)(name), NULL, (char *)("[pyxis-stub] " usage), 0, (key) * 2, take }

static struct spank_option options[] = {
	ARG("container-image", "[USER@][REGISTRY#]IMAGE[:TAG]|PATH", IMAGE, "image of the container"),
	ARG("container-mounts", "SRC:DST[:FLAGS][,SRC:DST...]", MOUNTS, "bind mounts"),
	ARG("container-workdir", "PATH", WORKDIR, "working directory inside the container"),
	ARG("container-name", "NAME", NAME, "name of the container"),
	ARG("container-save", "PATH", SAVE, "squashfs file to save to"),
	YES("container-mount-home", MOUNT_HOME, "mount the home directory"),
	NO("no-container-mount-home", MOUNT_HOME, "do not mount the home directory"),
	YES("container-remap-root", REMAP_ROOT, "be root in the container"),
	NO("no-container-remap-root", REMAP_ROOT, "do not be root in the container"),
	YES("container-entrypoint", ENTRYPOINT, "execute the entrypoint"),
	NO("no-container-entrypoint", ENTRYPOINT, "do not execute the entrypoint"),
	YES("container-entrypoint-log", ENTRYPOINT_LOG, "print the output of the entrypoint"),
	YES("container-writable", WRITABLE, "writable file system"),
	NO("container-readonly", WRITABLE, "read-only file system"),
	ARG("container-env", "NAME[,NAME...]", ENVV, "variables taken from the host"),
	ARG("container-unshare", "NS[,NS...]", UNSHARE, "namespaces: net, ipc, uts"),
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 5, 0)
	ARG("segment", "N", SEGMENT, "accepted for scripts written for a newer Slurm; no effect"),
#endif
	SPANK_OPTIONS_TABLE_END
};

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	spank_context_t ctx = spank_context();

	if (ctx != S_CTX_LOCAL && ctx != S_CTX_ALLOCATOR && ctx != S_CTX_REMOTE)
		return 0;
	for (int i = 0; i < ac; i++)
		if (ctx == S_CTX_ALLOCATOR && !strcmp(av[i], "sbatch_support=0"))
			return 0;
	for (struct spank_option *o = options; o->name; o++)
		if (spank_option_register(sp, o) != ESPANK_SUCCESS && o->val / 2 != SEGMENT)
			return fail(o->name, "cannot be registered");
	return 0;
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	(void)sp, (void)ac, (void)av;
	if (spank_context() == S_CTX_REMOTE || got[IMAGE].value || got[NAME].value)
		return 0;
	for (int i = 0; i < NKEYS; i++)
		if (got[i].value && i != SEGMENT)
			slurm_error("pyxis-stub: ignoring %s because neither --container-image nor "
				    "--container-name is set", got[i].option);
	return 0;
}

/* Runs in slurmstepd before the tasks start. Sets their environment. */
int slurm_spank_user_init(spank_t sp, int ac, char **av)
{
	(void)ac, (void)av;
	for (int i = 0; i < NKEYS; i++) {
		if (!got[i].value)
			spank_unsetenv(sp, got[i].variable);
		else if (spank_setenv(sp, got[i].variable, got[i].value, 1) != ESPANK_SUCCESS)
			return fail(got[i].variable, "cannot be set");
	}
	return 0;
}

/*
 * Runs in each task. With PYXIS_STUB_STRICT, checks that the image file and the sources
 * of the mounts exist. After an error in user_init srun would exit with 0; pyxis
 * postpones its errors for the same reason.
 */
int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	char strict[8] = "", *todo, *rest, *item;
	int rc = 0;

	(void)ac, (void)av;
	if (spank_getenv(sp, "PYXIS_STUB_STRICT", strict, sizeof(strict)) != ESPANK_SUCCESS || strcmp(strict, "1"))
		return 0;
	if (got[IMAGE].value && strchr("./", *got[IMAGE].value) && access(got[IMAGE].value, R_OK))
		return fail(got[IMAGE].value, "no such image");
	if (!got[MOUNTS].value || !(todo = rest = strdup(got[MOUNTS].value)))
		return 0;
	while (!rc && (item = strsep(&rest, ","))) {
		item[strcspn(item, ":")] = '\0';
		if (*item == '/' && access(item, F_OK))
			rc = fail(item, "the source of a mount does not exist");
	}
	free(todo);
	return rc;
}

/* Mount point of a task's root: a directory that every machine has. */
#define ROOT "/mnt"

static int failed(const char *what)
{
	return fail(what, strerror(errno));
}

/* Creates an empty directory or file at a path, with its parent directories. */
static int make_target(char *path, int directory)
{
	int fd;

	for (char *p = path + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return failed(path);
	}
	if (directory)
		return mkdir(path, 0755) && errno != EEXIST ? failed(path) : 0;
	if ((fd = open(path, O_CREAT | O_WRONLY, 0644)) < 0)
		return failed(path);
	return close(fd);
}

static int bind_to(const char *src, const char *dst)
{
	char target[4096];
	struct stat st;

	if (stat(src, &st)) /* see PYXIS_STUB_STRICT */
		return 0;
	if (snprintf(target, sizeof(target), ROOT "%s", dst) >= (int)sizeof(target))
		return fail(dst, "too long");
	if (make_target(target, S_ISDIR(st.st_mode)))
		return -1;
	return mount(src, target, NULL, MS_BIND | MS_REC, NULL) ? failed(dst) : 0;
}

/* Binds the directories of this machine's root and copies its symbolic links. */
static int bind_machine(void)
{
	char path[512], link[4096], copy[512];
	struct dirent *e;
	struct stat st;
	ssize_t n;
	DIR *d = opendir("/");
	int rc = d ? 0 : failed("/");

	while (!rc && (e = readdir(d))) {
		if (*e->d_name == '.' || !strcmp(ROOT + 1, e->d_name))
			continue;
		snprintf(path, sizeof(path), "/%s", e->d_name);
		snprintf(copy, sizeof(copy), ROOT "/%s", e->d_name);
		if (lstat(path, &st))
			continue;
		if (S_ISLNK(st.st_mode) && (n = readlink(path, link, sizeof(link) - 1)) > 0) {
			link[n] = '\0';
			rc = symlink(link, copy) ? failed(copy) : 0;
		} else if (S_ISDIR(st.st_mode)) {
			rc = bind_to(path, path);
		}
	}
	if (d)
		closedir(d);
	return rc;
}

/* Runs in each task, as root and in its own process. */
int slurm_spank_task_init_privileged(spank_t sp, int ac, char **av)
{
	char wanted[8] = "", cwd[4096], *todo, *rest, *item, *dst;
	int rc;

	(void)ac, (void)av;
	if (!got[MOUNTS].value || geteuid() != 0 ||
	    spank_getenv(sp, "PYXIS_STUB_BIND", wanted, sizeof(wanted)) != ESPANK_SUCCESS || strcmp(wanted, "1"))
		return 0;
	if (!getcwd(cwd, sizeof(cwd)) || !(todo = rest = strdup(got[MOUNTS].value)))
		return failed("PYXIS_STUB_BIND");
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("root", ROOT, "tmpfs", 0, "mode=755"))
		rc = failed("PYXIS_STUB_BIND");
	else
		rc = bind_machine();
	while (!rc && (item = strsep(&rest, ","))) {
		if (!(dst = strchr(item, ':')) || *item != '/')
			continue;
		*dst++ = '\0';
		dst[strcspn(dst, ":")] = '\0';
		rc = bind_to(item, dst);
	}
	free(todo);
	if (!rc && (chroot(ROOT) || (chdir(cwd) && chdir("/"))))
		rc = failed("PYXIS_STUB_BIND");
	return rc;
}
