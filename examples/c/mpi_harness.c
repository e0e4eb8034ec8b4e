/* Any MPI behind the worker protocol of Mesh Conformance, through its C interface; each rank is a process.
 *
 *     mpicc -std=c99 -O2 -I KIT -o mpi_harness mpi_harness.c KIT/conformance.c      # KIT: the files of the kit for C
 *     conformance run -b 'exec:./mpi_harness mpiexec -n 4'
 *
 * The runner starts one process, which becomes the mpiexec that its arguments name and keeps the descriptors of the runner
 * open; rank 0 opens them by /proc, because what mpiexec starts need not inherit them. So this is for Linux. */
#define _POSIX_C_SOURCE 200809L
#include "conformance.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the harness itself sends goes beside the communicators that are judged. */
static MPI_Comm own;

static void out(const void *bytes, size_t count, int to) { MPI_Send(bytes, (int)count, MPI_BYTE, to, 0, own); }
static void in(void *bytes, size_t count, int from) { MPI_Recv(bytes, (int)count, MPI_BYTE, from, 0, own, MPI_STATUS_IGNORE); }

static int worst(int status) {
    int rank, size, other;
    MPI_Comm_rank(own, &rank);
    MPI_Comm_size(own, &size);
    for (int r = 1; r < size; r++) {
        if (rank == r) out(&status, sizeof status, 0), in(&status, sizeof status, 0);
        if (rank == 0) in(&other, sizeof other, r), status = other > status ? other : status;
        if (rank == 0 && r == size - 1) for (int to = 1; to < size; to++) out(&status, sizeof status, to);
    }
    return status;
}

/* What MPI says of a call. Its errors are returned, not fatal, as far as a library keeps to that. */
static int told(int error) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, class;
    if (error == MPI_SUCCESS) return CONF_OK;
    MPI_Error_class(error, &class);
    MPI_Error_string(error, text, &length);
    int inside = class == MPI_ERR_OTHER || class == MPI_ERR_INTERN || class == MPI_ERR_UNKNOWN || class == MPI_ERR_NO_MEM;
    return conf_fail(inside ? CONF_INTERNAL : CONF_INVALID, "%s", text);
}

static MPI_Datatype datatype(conf_type type) {
    switch (type) {
    case CONF_BOOL: return MPI_C_BOOL;
    case CONF_INT8: return MPI_INT8_T;
    case CONF_INT16: return MPI_INT16_T;
    case CONF_INT32: return MPI_INT32_T;
    case CONF_INT64: return MPI_INT64_T;
    case CONF_UINT8: return MPI_UINT8_T;
    case CONF_UINT16: return MPI_UINT16_T;
    case CONF_UINT32: return MPI_UINT32_T;
    case CONF_UINT64: return MPI_UINT64_T;
    case CONF_FLOAT32: return MPI_FLOAT;
    case CONF_FLOAT64: return MPI_DOUBLE;
    case CONF_COMPLEX64: return MPI_C_FLOAT_COMPLEX;
    case CONF_COMPLEX128: return MPI_C_DOUBLE_COMPLEX;
    default: return MPI_DATATYPE_NULL;
    }
}

static MPI_Op operation(conf_op op, conf_type type) {
    int logical = type == CONF_BOOL;
    switch (op) {
    case CONF_SUM: return MPI_SUM;
    case CONF_PRODUCT: return MPI_PROD;
    case CONF_MAX: return MPI_MAX;
    case CONF_MIN: return MPI_MIN;
    case CONF_AND: return logical ? MPI_LAND : MPI_BAND;
    case CONF_OR: return logical ? MPI_LOR : MPI_BOR;
    case CONF_XOR: return logical ? MPI_LXOR : MPI_BXOR;
    default: return MPI_OP_NULL;
    }
}

/* A communicator for each group. All processes come here, those that the case has no rank for as well. */
static int comm_init(conf_comm *comm) {
    MPI_Comm *made = malloc(sizeof *made);
    int colour = comm->group < 0 ? MPI_UNDEFINED : comm->group;
    if (!made) return conf_fail(CONF_INTERNAL, "no memory for a communicator");
    comm->user = made;
    int error = MPI_Comm_split(MPI_COMM_WORLD, colour, comm->rank, made);
    if (error == MPI_SUCCESS && *made != MPI_COMM_NULL) MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    return told(error);
}

static void comm_free(conf_comm *comm) {
    MPI_Comm *made = comm->user;
    if (*made != MPI_COMM_NULL) MPI_Comm_free(made);
    free(made);
}

static MPI_Comm of(conf_comm *comm) { return *(MPI_Comm *)comm->user; }

/* Folds need a datatype and an operation; what only moves goes as bytes. */
#define FOLD(type, op) MPI_Datatype d = datatype(type); MPI_Op f = operation(op, type); \
    if (d == MPI_DATATYPE_NULL || f == MPI_OP_NULL) return conf_fail(CONF_UNSUPPORTED, "MPI folds no %s so", conf_name(type))
#define BYTES(count, type) (int)((count) * conf_size(type)), MPI_BYTE

static int all_reduce(const void *send, void *recv, size_t count, conf_type type, conf_op op, conf_comm *comm) {
    FOLD(type, op);
    return told(MPI_Allreduce(send, recv, (int)count, d, f, of(comm)));
}

static int reduce(const void *send, void *recv, size_t count, conf_type type, conf_op op, int root, conf_comm *comm) {
    FOLD(type, op);
    return told(MPI_Reduce(send, recv, (int)count, d, f, root, of(comm)));
}

static int scan(const void *send, void *recv, size_t count, conf_type type, conf_op op, int exclusive, conf_comm *comm) {
    FOLD(type, op);
    if (exclusive) return conf_fail(CONF_UNSUPPORTED, "MPI_Exscan leaves the buffer of the first member undefined");
    return told(MPI_Scan(send, recv, (int)count, d, f, of(comm)));
}

static int reduce_scatter(const void *send, void *recv, size_t count, conf_type type, conf_op op, conf_comm *comm) {
    FOLD(type, op);
    return told(MPI_Reduce_scatter_block(send, recv, (int)count, d, f, of(comm)));
}

static int broadcast(const void *send, void *recv, size_t count, conf_type type, int root, conf_comm *comm) {
    if (comm->rank == root) memcpy(recv, send, count * conf_size(type)); /* MPI has one buffer for both */
    return told(MPI_Bcast(recv, BYTES(count, type), root, of(comm)));
}

static int all_gather(const void *send, void *recv, size_t count, conf_type type, conf_comm *comm) {
    return told(MPI_Allgather(send, BYTES(count, type), recv, BYTES(count, type), of(comm)));
}

static int gather(const void *send, void *recv, size_t count, conf_type type, int root, conf_comm *comm) {
    return told(MPI_Gather(send, BYTES(count, type), recv, BYTES(count, type), root, of(comm)));
}

static int scatter(const void *send, void *recv, size_t count, conf_type type, int root, conf_comm *comm) {
    return told(MPI_Scatter(send, BYTES(count, type), recv, BYTES(count, type), root, of(comm)));
}

static int all_to_all(const void *send, void *recv, size_t count, conf_type type, conf_comm *comm) {
    return told(MPI_Alltoall(send, BYTES(count, type), recv, BYTES(count, type), of(comm)));
}

static int permute(const void *send, void *recv, size_t count, conf_type type, int to, int from, conf_comm *comm) {
    if (to < 0 || from < 0) return conf_fail(CONF_UNSUPPORTED, "MPI_PROC_NULL leaves a buffer as it was");
    return told(MPI_Sendrecv(send, BYTES(count, type), to, 1, recv, BYTES(count, type), from, 1, of(comm), MPI_STATUS_IGNORE));
}

static int barrier(conf_comm *comm) { return told(MPI_Barrier(of(comm))); }

static void describe(void (*say)(const char *key, const char *value)) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING], standard[40];
    int length, version, subversion;
    MPI_Get_library_version(text, &length);
    MPI_Get_version(&version, &subversion);
    snprintf(standard, sizeof standard, "%d.%d", version, subversion);
    text[strcspn(text, "\n")] = 0;
    say("library", text);
    say("MPI", standard);
}

/* What the standard promises. conformance.c adds its own limits: blocks that are contiguous, legal calls, ranks alike. */
#define FOLDING "all_reduce,reduce,scan,reduce_scatter"
static const conf_claim claims[] = {
    {FOLDING, "op", "sum,product,max,min,and,or,xor"},
    {FOLDING, "dtype", "bool,int8,int16,int32,int64,uint8,uint16,uint32,uint64,float32,float64,complex64,complex128"},
    /* Logical types have logical operations alone. */
    {FOLDING, "reduction", "sum of integer,product of integer,max of integer,min of integer,and of integer,or of integer,xor of integer,"
     "and of bool,or of bool,xor of bool,sum of float,product of float,max of float,min of float,sum of complex,product of complex"},
    {"scan", "exclusive", "false"},
    {0, 0, 0}};

static const conf_backend backend = {
    .name = "mpi-c", .claims = claims, .guarantees = "ranks_agree", .follows = "mpi", .describe = describe,
    .comm_init = comm_init, .comm_free = comm_free,
    .all_reduce = all_reduce, .reduce = reduce, .scan = scan, .reduce_scatter = reduce_scatter, .broadcast = broadcast,
    .all_gather = all_gather, .gather = gather, .scatter = scatter, .all_to_all = all_to_all, .permute = permute, .barrier = barrier};

/* Become the launcher: `mpi_harness mpiexec -n 4` runs `mpiexec -n 4 mpi_harness PID`. */
static int launch(int count, char **words) {
    char **command = calloc((size_t)count + 6, sizeof *command), pid[40];
    const char *read = getenv("CONFORMANCE_READ"), *write = getenv("CONFORMANCE_WRITE"), *files = getenv("CONFORMANCE_FILES");
    if (count < 2 || !command || !read || !write || !files) {
        fprintf(stderr, "conformance run -b 'exec:%s mpiexec -n 4' starts this program\n", words[0]);
        return 2;
    }
    snprintf(pid, sizeof pid, "/proc/%ld/fd", (long)getpid());
    memcpy(command, words + 1, ((size_t)count - 1) * sizeof *command);
    char *more[] = {words[0], pid, (char *)read, (char *)write, (char *)files};
    memcpy(command + count - 1, more, sizeof more);
    execvp(command[0], command);
    perror(command[0]);
    return 127;
}

static int opened(const char *folder, const char *number, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, number);
    int found = open(path, flags | O_CLOEXEC);
    if (found < 0) perror(path), MPI_Abort(MPI_COMM_WORLD, 1);
    return found;
}

int main(int count, char **words) {
    conf_ranks ranks = {0, 0, -1, -1, NULL, out, in, worst};
    if (count != 5 || strncmp(words[1], "/proc/", 6)) return launch(count, words);
    MPI_Init(&count, &words);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_rank(own, &ranks.rank);
    MPI_Comm_size(own, &ranks.size);
    ranks.files = words[4];
    if (ranks.rank == 0) ranks.in = opened(words[1], words[2], O_RDONLY), ranks.out = opened(words[1], words[3], O_WRONLY);
    int ended = conf_serve_ranks(&backend, &ranks);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return ended;
}
